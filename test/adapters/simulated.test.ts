/** What is peculiar to the simulated provider: who answers, what callees say and how long they stay, and that nothing is left of a closed trunk. */
import { readFileSync } from "node:fs"
import { Clock, Effect, Exit, Scope } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { configurationId, everywhere } from "#adapters/conformance/EngineSide.ts"
import { frameOf } from "#adapters/conformance/tones.ts"
import { calleeOf } from "#adapters/simulated/Callee.ts"
import simulated from "#adapters/simulated/simulated.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"
import { decodeInto, levelOfCodes, makePcmFrame } from "#core/audio/PcmFrame.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import { complete } from "#core/provider/Credential.ts"
import { type AmdVerdict, makeAmd } from "#runtime/voice/Amd.ts"
import { refTo } from "#test/support/refTo.ts"
import { run } from "#test/support/run.ts"
import { usual } from "#test/support/usual.ts"
import { newCallId } from "./Line.ts"

const speech = frameOf(1_000)
const AUDIBLE = 300

/** A clock that knows how much waits for it. */
const watchedClock = Effect.map(Clock.clockWith(Effect.succeed), (clock) => {
  const waits = { count: 0 }
  const sleep: Clock.Clock["sleep"] = (duration) =>
    Effect.acquireUseRelease(
      Effect.sync(() => void waits.count++),
      () => clock.sleep(duration),
      () => Effect.sync(() => void waits.count--)
    )
  return { clock: { ...clock, sleep }, waits }
})

/** A trunk on a clock of its own, until it is closed, and what it has reported by call, each with the second. */
const openTrunk = Effect.fnUntraced(function* (config: Readonly<Record<string, unknown>> = {}) {
  const { clock, waits } = yield* watchedClock
  const stories = new Map<string, Array<string>>()
  const scope = yield* Scope.fork(yield* Effect.scope)
  const second = () => Math.floor(clock.currentTimeMillisUnsafe() / 100) / 10
  const trunk = yield* simulated
    .connect(complete(simulated.fields, config), {
      apiOrigin: undefined,
      callbackUrl: undefined,
      configurationId,
      egress: everywhere,
      node: "test",
      onEvent: (callId, event) => {
        const word = event._tag === "HungUp" ? event.cause : event._tag === "Dtmf" ? event.digit : event._tag
        stories.set(callId, [...(stories.get(callId) ?? []), `${second()} ${word}`])
      },
      onStatus: () => {}
    })
    .pipe(Effect.provideService(Clock.Clock, clock), Scope.provide(scope))
  const place = (to: string, more: Partial<OriginateRequest> = {}) => {
    const callId = newCallId()
    return Effect.as(trunk.originate({ ...usual, callId, from: undefined, leave: () => true, to, ...more }), callId)
  }
  const storyOf = (callId: string) => stories.get(callId) ?? []
  return { close: Scope.close(scope, Exit.void), place, storyOf, trunk, waits }
})
type OpenTrunk = Effect.Success<ReturnType<typeof openTrunk>>

/** An answered call with its audio, from which the callee's sounds are taken; `agent`: whether our agent speaks in a frame, by the second. */
const talkTo = Effect.fnUntraced(function* (line: OpenTrunk, to: string, seconds: number, agent: (second: number) => boolean) {
  const callId = yield* line.place(to)
  yield* TestClock.adjust("3 seconds")
  const stream = yield* line.trunk.openMedia?.(refTo(callId)) ?? Effect.die("it has no audio")
  const amd = makeAmd()
  const frame = makePcmFrame()
  const heard = { end: "", spokeAt: new Set<number>(), verdict: undefined as AmdVerdict | undefined }
  let frames = 0
  stream.listen({
    closed: (how) => void (heard.end = how),
    frame: (codes) => {
      decodeInto(frame, codes)
      if (levelOfCodes(codes) > AUDIBLE) heard.spokeAt.add(Math.floor(3 + (frames * frameMillis) / 1_000))
      heard.verdict ??= amd.push(frame, frames * frameMillis)
      frames += 1
    }
  })
  for (let at = 0; at < seconds * 1_000; at += frameMillis) {
    if (agent(3 + at / 1_000)) stream.send(speech)
    yield* TestClock.adjust(frameMillis)
  }
  return { ...heard, callId, story: line.storyOf(callId) }
})
const silent = () => false

t.test("given ten thousand numbers that end in nothing special", async (t) => {
  const numbers = Array.from({ length: 10_000 }, (_, n) => `+1555${String(n).padStart(5, "0")}99`)
  const answered = (percent: number) => numbers.filter((number) => calleeOf(number, percent)._tag === "Answers")
  t.ok(Math.abs(answered(70).length - 7_000) < 200, `then as many answer as the rate says: ${answered(70).length}`)
  t.strictSame([answered(0).length, answered(100).length], [0, 10_000], "and none or all at its ends")
  const more = new Set(answered(80))
  t.ok(
    answered(70).every((number) => more.has(number)),
    "and a higher rate adds numbers, and takes none away"
  )
  const kinds = Map.groupBy(numbers, (number) => JSON.stringify(calleeOf(number, 70)))
  t.equal(kinds.size, 4, "and there are people, machines, busy phones and phones that ring out")
  for (const [kind, { length }] of kinds) t.ok(length > 500, `${kind}: ${length}`)
})

t.test("given numbers with each ending, then those that do the same at any rate are listed in deploy/README.md", async (t) => {
  const endings = Array.from({ length: 100 }, (_, n) => String(n).padStart(2, "0"))
  const isFixed = (ending: string) => {
    const [least, most] = [0, 100].map((percent) => JSON.stringify(calleeOf(`+15550100${ending}`, percent)))
    return least === most
  }
  const page = readFileSync(new URL("../../deploy/README.md", import.meta.url), "utf8")
  const section = /^## Calls to nobody$(.*?)^## /ms.exec(page)?.[1] ?? ""
  const listed = [...section.matchAll(/^\| `(\d\d)` \|/gm)].map(([, ending]) => ending)
  t.strictSame(endings.filter(isFixed), listed)
})

t.test("given a list of numbers, when each is dialed twice, then it does the same both times", (t) =>
  run(function* () {
    const line = yield* openTrunk({ ring_seconds: "1" })
    const numbers = Array.from({ length: 50 }, (_, n) => `+155501${n}13`.padEnd(12, "7"))
    const stories = [] as Array<ReadonlyArray<ReadonlyArray<string>>>
    for (const began of [0, 15]) {
      const calls = yield* Effect.forEach(numbers, (to) => line.place(to, { ringTimeoutSeconds: 5 }))
      yield* TestClock.adjust("15 seconds")
      const sinceDial = (told: string) => told.replace(/^\S+/, (second) => (Number(second) - began).toFixed(1))
      stories.push(calls.map((callId) => line.storyOf(callId).map(sinceDial)))
    }
    t.strictSame(stories[1], stories[0])
    t.ok(new Set(stories[0]?.map((story) => story.at(-1))).size > 2, "and not all the same")
  })
)

t.test("given a person who stays for eight seconds", async (t) => {
  await t.test("when the agent speaks in the fifth second, then they hang up eight seconds after that", (t) =>
    run(function* () {
      const { end, story } = yield* talkTo(yield* openTrunk(), "+15550100001", 15, (second) => second >= 5 && second < 6)
      t.strictSame(story, ["0 Rang", "2 Answered", "13 normal_clearing"])
      t.equal(end, "ended", "and the audio ends with the call")
    })
  )
  await t.test("when the agent says nothing, then they hang up after ten seconds", (t) =>
    run(function* () {
      const { story } = yield* talkTo(yield* openTrunk(), "+15550100001", 15, silent)
      t.strictSame(story.at(-1), "12 normal_clearing")
    })
  )
  await t.test("when the agent speaks and then waits, then they answer, and are taken for a person", (t) =>
    run(function* () {
      const { spokeAt, verdict } = yield* talkTo(yield* openTrunk(), "+15550100001", 8, (second) => second >= 5 && second < 6)
      t.strictSame([...spokeAt], [3, 6, 7], "they have said hello, and answered once")
      t.equal(verdict, "human")
    })
  )
})

t.test("given a machine, when it answers, then it plays a greeting that is taken for a machine's", (t) =>
  run(function* () {
    const line = yield* openTrunk()
    const { callId, spokeAt, verdict } = yield* talkTo(line, "+15550100004", 10, silent)
    t.strictSame([...spokeAt], [3, 4, 5, 6, 7, 8, 9], "and then falls silent")
    t.equal(verdict, "machine")
    yield* TestClock.adjust("1 minute")
    t.equal(line.storyOf(callId).at(-1), "62 normal_clearing", "and it does not record for ever")
  })
)

t.test("given somebody with a keypad, when the agent has spoken, then they press keys once", (t) =>
  run(function* () {
    const speaks = (second: number) => (second >= 3 && second < 4) || (second >= 6 && second < 7)
    const { story } = yield* talkTo(yield* openTrunk(), "+15550100010", 6, speaks)
    t.strictSame(story, ["0 Rang", "2 Answered", ...[..."1234#"].map((key) => `4.7 ${key}`)])
  })
)

t.test("given an empty form", (t) =>
  run(function* () {
    const line = yield* openTrunk({ answer_rate: "", ring_seconds: "", talk_seconds: "" })
    const { story } = yield* talkTo(line, "+15550100001", 9, () => true)
    t.strictSame(story, ["0 Rang", "2 Answered", "11 normal_clearing"], "then it means two seconds of ringing and eight of talk")
  })
)

t.test("given a call that may last for five seconds, when its callee would stay, then it ends", (t) =>
  run(function* () {
    const line = yield* openTrunk()
    const callId = yield* line.place("+15550100006", { maxDurationSeconds: 5 })
    yield* TestClock.adjust("8 seconds")
    t.strictSame(line.storyOf(callId), ["0 Rang", "2 Answered", "7 duration_exceeded"])
  })
)

t.test("given a trunk", async (t) => {
  await t.test("when there is no call, before the first or after the last, then nothing waits for the clock", (t) =>
    run(function* () {
      const { place, waits } = yield* openTrunk()
      t.equal(waits.count, 0)
      yield* place("+15550100002")
      yield* Effect.yieldNow
      t.equal(waits.count, 1)
      yield* TestClock.adjust("1 second")
      t.equal(waits.count, 0)
    })
  )
  await t.test("when it is closed with calls, then nothing of them is left", (t) =>
    run(function* () {
      const line = yield* openTrunk()
      const { end, callId } = yield* talkTo(line, "+15550100006", 1, silent)
      t.equal(end, "")
      const ringing = yield* line.place("+15550100003")
      yield* TestClock.adjust("1 second")
      yield* line.close
      t.equal(line.waits.count, 0, "nothing waits")
      yield* TestClock.adjust("10 minutes")
      t.strictSame([line.storyOf(callId), line.storyOf(ringing)], [["0 Rang", "2 Answered"], ["4 Rang"]], "nothing is reported")
      for (const call of [callId, ringing])
        t.strictSame(yield* line.trunk.lookup(refTo(call)), { presence: "gone", told: [] }, "and a look finds no phone")
      t.notOk(line.trunk.mayAppear?.({ ageMillis: 0, call: refTo(callId), ringTimeoutSeconds: 30 }), "nor will there be one")
    })
  )
})
