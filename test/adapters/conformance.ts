/**
 * What every adapter must do, told once. A world is a provider to test against, emulated or real, with the callees that live there: a
 * callee is chosen by how a number ends. Judged by what the trunk reports and by what the callees saw, never by how the adapter does it.
 */
import { setTimeout as sleep } from "node:timers/promises"
import t, { type Test } from "tap"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { Line, newCallId, numberOf } from "./Line.ts"
import { verified } from "./verified.ts"
import { clearest, exchange, loudest, OUR_HERTZ, OUR_LEVEL, SAMPLE_RATE } from "./tones.ts"

type Config = Readonly<Record<string, unknown>>

/** Three digits that end a number; undefined where this world has no such callee. */
interface Callees {
  /** Rings, answers, speaks, and stays until we hang up. */
  readonly stays: string
  /** Answers and hangs up after a moment. */
  readonly leaves: string
  /** Rings until we give up. */
  readonly ringsOut: string
  readonly ends: ReadonlyArray<readonly [what: string, ending: string, cause: HangupCause]>
  readonly presses: { readonly ending: string; readonly digits: string }
  /** Makes a sound for as long as the call lasts; of one pitch, if it is told. */
  readonly sounds: { readonly ending: string; readonly hertz?: number }
  /** The provider repeats, reorders and delays the events of this call, and has them overtake the reply. */
  readonly disorderly?: string
  /** The line breaks in the middle of the call. */
  readonly breaks?: { readonly ending: string; readonly cause: HangupCause }
}

export interface World {
  readonly config: Config
  /** The same with a wrong secret. */
  readonly wrongConfig: Config
  /** The same where nobody listens. */
  readonly unreachableConfig: Config
  readonly callees: Callees
  /** The number of times that this number was called, as its callee saw it; undefined where nobody counts. */
  readonly timesDialed: (number: string) => Promise<number | undefined>
  /** What the callee heard, 16-bit samples of 8 kHz. */
  readonly heard?: (callId: string, number: string) => Promise<ReadonlyArray<number>>
  /** The next originate gets no reply, and its connection breaks. */
  readonly loseReply?: (when: "after-placing" | "before-placing") => void
  readonly close: () => Promise<void>
}

export const conformance = (name: string, adapter: Adapter, openWorld: () => Promise<World>): Promise<unknown> =>
  t.test(name, { buffered: true }, async (t) => {
    const world = await openWorld()
    const line = await Line.up(adapter, world.config)
    t.teardown(async () => {
      await line.close()
      await world.close()
    })
    t.jobs = 8
    endings(t, world, line)
    talking(t, world, line)
    trouble(t, world, line, adapter)
    await verified(t, world, adapter)
    await refusals(t, world, line, adapter)
  })

const endings = (t: Test, world: World, line: Line): void => {
  for (const [what, ending, cause] of world.callees.ends) {
    t.test(`when the callee ${what}, then the call ends as ${cause}`, { buffered: true }, async (t) => {
      const { callId, failure, to } = await line.originate(numberOf(ending))
      t.equal(failure, undefined)
      t.equal(await line.hungUp(callId), cause)
      t.notMatch(line.story(callId), ["Answered"])
      t.equal((await world.timesDialed(to)) ?? 1, 1)
    })
  }
  t.test("when nobody answers in time, then the call ends as ring_timeout", { buffered: true }, async (t) => {
    const { callId } = await line.originate(numberOf(world.callees.ringsOut), { ringTimeoutSeconds: 2 })
    await line.event(callId, "HungUp")
    t.strictSame(line.story(callId), ["Rang", "HungUp ring_timeout"])
  })
  t.test("when we hang up while it rings, then it ends for our reason", { buffered: true }, async (t) => {
    const { callId } = await line.originate(numberOf(world.callees.ringsOut))
    await line.event(callId, "Rang")
    t.equal(await line.lookup(callId), "ringing")
    await line.hangup(callId, "originator_cancel")
    t.equal(await line.hungUp(callId), "originator_cancel")
    t.equal(await line.lookup(callId), "gone")
  })
  t.test("when it has ended already, then hanging up succeeds and tells nothing more", { buffered: true }, async (t) => {
    const { callId } = await line.originate(numberOf(world.callees.ends[0]?.[1] ?? ""))
    await line.event(callId, "HungUp")
    const story = line.story(callId)
    await line.hangup(callId)
    await line.hangup(newCallId())
    t.strictSame(line.story(callId), story)
  })
}

const talking = (t: Test, world: World, line: Line): void => {
  t.test("when the callee answers and hangs up, then the call ends as normal_clearing", { buffered: true }, async (t) => {
    const { callId, failure, to } = await line.originate(numberOf(world.callees.leaves))
    t.equal(failure, undefined)
    t.equal(await line.hungUp(callId), "normal_clearing")
    t.strictSame(
      line.story(callId).filter((word) => word !== "Rang"),
      ["Answered", "HungUp normal_clearing"]
    )
    t.equal((await world.timesDialed(to)) ?? 1, 1)
  })
  t.test("when we hang up, then it ends for our reason", { buffered: true }, async (t) => {
    const callId = await line.talkTo(numberOf(world.callees.stays))
    t.equal(await line.lookup(callId), "up")
    await line.hangup(callId, "duration_exceeded")
    t.equal(await line.hungUp(callId), "duration_exceeded")
    t.equal(await line.lookup(callId), "gone")
  })
  t.test("when the callee presses keys, then each is told once, in order", { buffered: true }, async (t) => {
    const { digits, ending } = world.callees.presses
    const callId = await line.withMediaOf(ending, async (callId) => {
      await line.until("digits", () => line.events(callId).filter(({ _tag }) => _tag === "Dtmf").length >= digits.length || undefined)
      return callId
    })
    await line.hangup(callId)
    await line.event(callId, "HungUp")
    t.equal(
      line
        .events(callId)
        .flatMap((event) => (event._tag === "Dtmf" ? [event.digit] : []))
        .join(""),
      digits
    )
  })
  t.test("when both sides make a sound, then each hears the other at its level", { buffered: true }, async (t) => {
    const { ending, hertz } = world.callees.sounds
    const to = numberOf(ending)
    const callId = await line.talkTo(to)
    const { closed, heard } = await line.withMedia(callId, (stream) => exchange(stream, 3))
    await line.hangup(callId)
    await line.event(callId, "HungUp")
    const level = loudest(heard)
    t.ok(heard.length > 2 * SAMPLE_RATE, `heard ${heard.length} samples of them`)
    t.ok(level > -35, `their level is ${level.toFixed(1)} dB`)
    const share = hertz === undefined ? 1 : clearest(heard, hertz).share
    t.ok(share > 0.9, `their tone is ${share.toFixed(2)} of it`)
    t.equal(closed, undefined)
    const theirEar = await world.heard?.(callId, to)
    if (theirEar === undefined) return
    const ours = clearest(theirEar, OUR_HERTZ)
    t.ok(ours.share > 0.9, `our tone is ${ours.share.toFixed(2)} of what they heard`)
    t.ok(Math.abs(ours.level - OUR_LEVEL) < 1.5, `our level is ${ours.level.toFixed(1)} dB there`)
  })
}

const trouble = (t: Test, world: World, line: Line, adapter: Adapter): void => {
  // Not every far end can be brought to misbehave so.
  const { breaks, disorderly } = world.callees
  if (disorderly !== undefined) {
    t.test("when events come twice, in disorder and before the reply, then the story is still true", { buffered: true }, async (t) => {
      const { callId, failure } = await line.originate(numberOf(disorderly))
      t.equal(failure, undefined)
      t.equal(await line.hungUp(callId), "normal_clearing")
      await sleep(300)
      t.ok(line.story(callId).includes("Answered"))
      t.equal(line.story(callId).at(-1), "HungUp normal_clearing")
    })
  }
  if (breaks !== undefined) {
    t.test("when the line breaks in mid-call, then the call ends", { buffered: true }, async (t) => {
      const callId = await line.talkTo(numberOf(breaks.ending))
      t.equal(await line.hungUp(callId), breaks.cause)
    })
  }
  t.test("when an unusable number is dialed, then it is refused and nothing leaves", { buffered: true }, async (t) => {
    t.match((await line.originate("+1555;/@x")).failure, { _tag: "OriginateRefused", reason: "number_refused" })
  })
  t.test(
    "when the permit has ended by the time the request could leave, then it is asked once and nothing leaves",
    { buffered: true },
    async (t) => {
      let asked = 0
      const { callId, failure, to } = await line.originate(numberOf(world.callees.stays), {
        leave: () => {
          asked += 1
          return false
        }
      })
      t.match(failure, { _tag: "OriginateRefused", reason: "permit_lapsed" })
      t.equal(asked, 1)
      t.strictSame(line.events(callId), [])
      t.equal((await world.timesDialed(to)) ?? 0, 0)
    }
  )
  t.test("when nobody listens, then originating is refused as unreachable", { buffered: true }, async (t) => {
    const lost = await Line.open(adapter, world.unreachableConfig)
    t.match((await lost.originate(numberOf(world.callees.stays))).failure, { _tag: "OriginateRefused", reason: "unreachable" })
    await lost.close()
  })
}

const lostReplies = async (t: Test, world: World, line: Line, loseReply: NonNullable<World["loseReply"]>): Promise<void> => {
  await t.test("when the reply is lost, then the call was placed once and is found", async (t) => {
    loseReply("after-placing")
    const { callId, failure, to } = await line.originate(numberOf(world.callees.stays))
    // Doubtful, or accepted when an event of the call outran the loss.
    t.ok(failure === undefined || failure._tag === "OriginateDoubtful")
    t.match(await line.lookup(callId), /ringing|up/)
    await line.event(callId, "Answered")
    await line.hangup(callId)
    await line.event(callId, "HungUp")
    t.equal((await world.timesDialed(to)) ?? 1, 1)
  })
  await t.test("when the request is lost, then it is doubtful and not repeated", async (t) => {
    loseReply("before-placing")
    const { callId, failure, to } = await line.originate(numberOf(world.callees.stays))
    t.equal(failure?._tag, "OriginateDoubtful")
    t.match(await line.lookup(callId), /gone|never_placed/)
    t.equal((await world.timesDialed(to)) ?? 0, 0)
  })
}

/** One after the other: what is lost here is the next reply, whosever it is. */
const refusals = async (t: Test, world: World, line: Line, adapter: Adapter): Promise<void> => {
  if (world.loseReply !== undefined) await lostReplies(t, world, line, world.loseReply)
  await t.test("when the secret is wrong, then the trunk is down for it and originating is refused", async (t) => {
    const denied = await Line.open(adapter, world.wrongConfig)
    const { failure } = await denied.originate(numberOf(world.callees.stays))
    t.match(failure, { _tag: "OriginateRefused", reason: /auth_refused|unreachable/ })
    t.match(await denied.status("Down"), { reason: "auth" })
    t.notMatch(JSON.stringify([failure, ...denied.statuses]), "wrong secret")
    await denied.close()
  })
}
