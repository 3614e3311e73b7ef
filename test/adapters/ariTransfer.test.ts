/** Transferred calls, through the emulator and through a real Asterisk, beyond what the conformance suite shows with both. */
import { Effect } from "effect"
import t, { type Test } from "tap"
import ari from "#adapters/ari/ari.ts"
import type { CallId } from "#core/Id.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { TransferRequest } from "#core/provider/Transfer.ts"
import type { AriEmulator } from "#test/emulators/ari/AriEmulator.ts"
import { fromMulaw } from "#test/emulators/ari/Sound.ts"
import { ariConfig } from "#test/support/ariConfig.ts"
import { asteriskUnavailable, startAsterisk } from "#test/support/asterisk.ts"
import { until, untilTrue } from "#test/support/until.ts"
import { refTo } from "#test/support/refTo.ts"
import { askAri, emulatedWith, recording } from "./emulatedLine.ts"
import { Line, numberOf } from "./Line.ts"
import { clearest, exchange, OUR_HERTZ, SAMPLE_RATE, speakUntil } from "./tones.ts"

t.jobs = 6
/** The tone of the lab's callees. */
const CALLEE_HERTZ = 440
const ways = { transfer_dial_string: "PJSIP/{number}@trunk", transfer_context: "queues" }
type Place = Parameters<typeof ariConfig>[0]

/** What Asterisk has, as a client of the test's own sees it. */
const asked = async (at: Place, path: string) =>
  // The cast holds for what Asterisk documents.
  (await (await askAri(at, path)).json()) as ReadonlyArray<{ readonly id: string; readonly channels: ReadonlyArray<string> }>
/** The parties in the only bridge: `callee`, `agent` and `other`. */
const together = async (at: Place, callId: string) => {
  const [bridge] = await asked(at, "/bridges")
  const roles = bridge?.channels.map((id) => (id === callId ? "callee" : id.startsWith("media-") ? "agent" : "other")) ?? []
  return roles.sort().join(" ")
}
/** Whether no channel is left but the agent's, which the engine closes. */
const isEmpty = async (at: Place) => (await asked(at, "/channels")).every(({ id }) => id.startsWith("media-"))

type Asked = Omit<TransferRequest, "leave" | "transfer">
const to = (ending: string, more: Partial<Asked> = {}): Asked => ({ to: numberOf(ending), kind: "attended", timeoutSeconds: 600, ...more })

/** The number of transfers of each call. */
const tries = new Map<string, number>()
/** Returns undefined if the transfer has begun. */
const begun = async (line: Line, callId: CallId, request: Asked, leave = () => true) => {
  const transfer = (tries.get(callId) ?? 0) + 1
  tries.set(callId, transfer)
  const asked = line.trunk.transfer?.(refTo(callId), { ...request, leave, transfer }) ?? Effect.die("cannot transfer")
  const result = await Effect.runPromise(Effect.result(asked))
  return result._tag === "Failure" ? result.failure : undefined
}
/** The agent speaks until it hears the callee's tone: on a busy machine, that takes more than a moment. */
const hearsCallee = async (stream: MediaStream) => {
  const byAgent: Array<number> = []
  stream.listen({ frame: (frame) => byAgent.push(...Array.from(frame, fromMulaw)), closed: () => {} })
  await speakUntil(stream, async () => clearest(byAgent, CALLEE_HERTZ) > 0.9)
}

/** Why the transfer has not begun, or otherwise its outcome: `answered`, or why nobody did. */
const transferred = async (line: Line, callId: CallId, request: Asked) => {
  const failure = await begun(line, callId, request)
  if (failure !== undefined) return failure
  const told = await until("outcome of the transfer", () =>
    line.events(callId).find((event) => event._tag === "HungUp" || (event._tag === "Transferred" && event.transfer === tries.get(callId)))
  )
  if (told._tag !== "Transferred") return told
  return told.answered ? "answered" : told.cause
}

/** Runs a test with a call that is up and its agent. */
type Use = (t: Test, world: { emulator: AriEmulator; line: Line; callId: CallId }) => Promise<unknown>
const givenWith = (config: object, name: string, use: Use) => {
  const timing = { ringMillis: 400, talkMillis: 10_000, timeScale: 1 }
  const options = { ...timing, config: { ...ways, ...config }, dialplan: { queues: [{ wait: 300 }, { hangup: 16 }] } }
  return emulatedWith(options, `when ${name}`, async (t, emulator, line) => {
    const callId = await line.talkTo(numberOf("011"))
    await line.withMedia(callId, () => use(t, { emulator, line, callId }))
  })
}
const given = (name: string, use: Use) => givenWith({}, name, use)

given("the destination answers, then it talks to the callee until the call ends", async (t, { callId, emulator, line }) => {
  t.strictSame(await transferred(line, callId, to("011", { from: "+15550100" })), "answered")
  t.equal(await together(emulator, callId), "callee other")
  t.strictSame(line.known(), [callId], "nobody takes the second channel for a call")
  t.match(await transferred(line, callId, to("011")), { _tag: "TransferRefused", detail: /was transferred before/ })
  await line.hangup(callId)
  t.equal(await line.hungUp(callId), "agent_hangup")
  await untilTrue("nobody there", () => isEmpty(emulator))
})

givenWith(
  { transfer_dial_string: "SIP/{number}" },
  "the destination's endpoint does not exist, then the agent has the callee again",
  async (t, { callId, emulator, line }) => {
    t.strictSame(await transferred(line, callId, to("011")), "no_route")
    t.equal(await together(emulator, callId), "agent callee")
  }
)

given("the request may no longer leave, then nobody is dialed, and the agent keeps the callee", async (t, { callId, emulator, line }) => {
  for (const kind of ["attended", "blind"] as const)
    t.match(await begun(line, callId, to("011", { kind }), () => false), { _tag: "TransferRefused" })
  t.equal(emulator.log.count("originate"), 1)
  t.equal(await together(emulator, callId), "agent callee")
})

given("the engine is killed while the two talk, then they continue until the next one ends that", async (t, { callId, emulator, line }) => {
  t.strictSame(await transferred(line, callId, to("011")), "answered")
  const next = await Line.up(ari, { ...ariConfig(emulator), ...ways }, line.node)
  t.teardown(() => next.close())
  t.equal(await together(emulator, callId), "callee other")
  t.equal(await next.lookup(callId), "up")
  await next.hangup(callId, "node_lost")
  await untilTrue("nobody there", () => isEmpty(emulator))
})

given("the destination is not a number, then nobody is dialed", async (t, { callId, emulator, line }) => {
  for (const other of ["", "1000@evil", "100/n", "1&PJSIP/2", "Local/1", "+", "1 0", "$(X)", "1".repeat(21)]) {
    t.match(await transferred(line, callId, to("011", { to: other })), { _tag: "TransferRefused" }, other)
    t.match(await transferred(line, callId, to("011", { to: other, kind: "blind" })), { _tag: "TransferRefused" }, other)
  }
  t.match(await transferred(line, callId, to("011", { from: "x" })), { _tag: "TransferRefused" })
  t.equal(emulator.log.count("originate"), 1)
  t.equal(await together(emulator, callId), "agent callee")
})

givenWith(
  { transfer_dial_string: "", transfer_context: "" },
  "the configuration names no destinations, then nobody is dialed",
  async (t, { callId, emulator, line }) => {
    t.match(await transferred(line, callId, to("011")), { _tag: "TransferRefused", detail: /no dial string/ })
    t.match(await transferred(line, callId, to("011", { kind: "blind" })), { _tag: "TransferRefused", detail: /no context/ })
    t.equal(emulator.log.count("originate"), 1)
  }
)

given("it continues in the dialplan, then its end there is reported", async (t, { callId, line }) => {
  t.strictSame(await transferred(line, callId, to("011", { kind: "blind" })), "answered")
  t.equal(await line.hungUp(callId), "normal_clearing")
})

givenWith(
  { transfer_context: "nowhere" },
  "the dialplan has no such place, then the agent keeps the callee",
  async (t, { callId, emulator, line }) => {
    t.match(await transferred(line, callId, to("011", { kind: "blind" })), { _tag: "TransferRefused", detail: /no such extension/ })
    t.equal(await together(emulator, callId), "agent callee")
  }
)

const unavailable = await asteriskUnavailable()
t.test("given a call through a real Asterisk", { skip: unavailable ?? false }, async (t) => {
  const asterisk = await startAsterisk()
  t.teardown(() => asterisk.stop())
  const at = { url: asterisk.ariUrl.replace(/\/ari$/, ""), user: asterisk.user, password: asterisk.password }
  const config = { ...ariConfig(at, { trunk: "loop" }), transfer_dial_string: "PJSIP/{number}@loop", transfer_context: "callee" }
  const line = await Line.up(ari, config)
  t.teardown(() => line.close())
  /** What a callee has heard so far. */
  const heard = (number: string) => recording(`${asterisk.runFolder}/heard/${number.slice(1)}.wav`)

  /** Whether enough of the tone was heard: on a busy machine it may come late. */
  const hearsEnough = (samples: ReadonlyArray<number>) => samples.length >= 4 * SAMPLE_RATE && clearest(samples, CALLEE_HERTZ) > 0.9
  t.test("when it is transferred, then each hears the other, and no longer the agent", async (t) => {
    // The callee echoes what it hears, so the destination hears its own tone once audio flows in both directions. (A MixMonitor at the callee's end often
    // writes silence once the sound there has paused, although the packets arrive.)
    const other = numberOf("710")
    const callId = await line.talkTo(numberOf("700"))
    await line.withMedia(callId, async (stream) => {
      await exchange(stream, 2)
      t.strictSame(await transferred(line, callId, to("710", { to: other })), "answered")
      await speakUntil(stream, async () => hearsEnough(await heard(other)))
      const byOther = await heard(other)
      t.ok(clearest(byOther, OUR_HERTZ) < 0.5, "and not the agent")
    })
    await line.hangup(callId)
    await untilTrue("nobody there", () => isEmpty(at))
  })
  t.test("given a dial string that leads into queues, when nobody there is free, then the agent is heard again", async (t) => {
    const queues = await Line.up(ari, { ...config, transfer_dial_string: "Local/{digits}@queues" })
    t.teardown(() => queues.close())
    const callId = await queues.talkTo(numberOf("710"))
    await queues.withMedia(callId, async (stream) => {
      t.strictSame(await transferred(queues, callId, to("", { to: "2" })), "user_busy")
      await hearsCallee(stream)
    })
    await queues.hangup(callId)
  })
})
