/** Callees as Deepgram hears them: the conformance suite, the service's faults, and what it is sent. */
import t, { type Test } from "tap"
import { deepgramWith } from "#adapters/voice/deepgram/deepgram.ts"
import {
  hints,
  listen as listenWith,
  pauses,
  says,
  type Served,
  silence,
  testConformance,
  textsOverBreak
} from "#test/adapters/serviceScene.ts"
import { DeepgramEmulator } from "#test/emulators/deepgram/DeepgramEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { untilTrue } from "#test/support/until.ts"

const served = ["nova-3-general", "flux-general-en"].map(
  (model): Served => ({ provider: deepgramWith(), model, emulator: () => new DeepgramEmulator() })
)
for (const one of served) t.test(one.model, (t) => testConformance(t, one))

const listen = (t: Test, config: object = {}, emulator = new DeepgramEmulator()) => listenWith(t, deepgramWith(), emulator, config)

t.test("given a call, then the service is asked for its language and its terms, and told when it is over", async (t) => {
  const { close, emulator, open } = await listen(t)
  const session = await open()
  session.write(silence)
  await untilTrue("audio", () => (emulator.connections[0]?.frames ?? 0) >= 2)
  const [connection] = emulator.connections
  t.match(Object.fromEntries(connection?.query ?? []), { model: "nova-3-general", language: "en-US", interim_results: "true" })
  t.strictSame(connection?.query.getAll("keyterm"), ["Trunkline", ...hints.phrases])
  await close()
  await untilTrue("the end of the connection", () => connection?.closedWith !== undefined)
  t.strictSame([connection?.said.at(-1), connection?.closedWith], ['{"type":"CloseStream"}', 1000])
})

t.test("given a phone that rings for longer than the service waits for audio, then the connection is kept alive", async (t) => {
  const opened = async (model: string) => {
    const { emulator, open } = await listenWith(t, deepgramWith(20), new DeepgramEmulator(), { model })
    await open()
    return untilTrue(model, () => {
      const { frames = 0, said = [] } = emulator.connections[0] ?? {}
      // Nova needs one frame of silence and then messages; Flux has no messages for it.
      return model.startsWith("nova") ? frames === 1 && said.filter((text) => text.includes("KeepAlive")).length >= 2 : frames >= 8
    })
  }
  t.ok(await opened("nova-3-general"))
  t.ok(await opened("flux-general-en"))
})

t.test("given a service that answers late or in parts", async (t) => {
  await t.test(
    "when it does not answer a request for the text, then the answer is made up, and what comes later continues it",
    async (t) => {
      const { emulator, finals, open } = await listen(t)
      const session = await open()
      emulator.answersFinalize = false
      says(session, silence)
      session.finalize()
      await untilTrue("an answer", () => finals().length > 0)
      t.strictSame(finals(), [["", true]])
      says(session, emulator.speech.audioOf("yes please"))
      pauses(session, 10)
      await untilTrue("the text", () => finals().length > 1)
      t.strictSame(finals().at(-1), ["yes please", false])
    }
  )

  await t.test("when a text comes in two parts, then only the last one is the answer", async (t) => {
    const { emulator, events, finals, open } = await listen(t)
    emulator.splits = true
    const session = await open()
    says(session, emulator.speech.audioOf("yes please"))
    session.finalize()
    await untilTrue("an answer", () => finals().length > 1)
    t.strictSame(finals(), [
      ["yes", false],
      ["please", true]
    ])
    t.match(events[0], { _tag: "Partial", text: "yes please" })
  })
})

t.test("given a recognizer that ends turns", async (t) => {
  const { close, emulator, failures, open, tags } = await listen(t, { model: "flux-general-multi" })
  const session = await open()

  await t.test("when a callee pauses and goes on, then the end is foreseen, taken back, and declared with the whole turn", async (t) => {
    says(session, emulator.speech.audioOf("yes"))
    pauses(session, 8)
    says(session, emulator.speech.audioOf("on Monday"))
    pauses(session, 20)
    await untilTrue("the end of the turn", () => tags().some((tag) => tag.startsWith("EndDeclared")))
    t.strictSame(tags(), [
      "Partial yes",
      "EndForeseen yes",
      "EndRevoked",
      "Partial yes on Monday",
      "EndForeseen yes on Monday",
      "EndDeclared yes on Monday"
    ])
  })

  await t.test("when other phrases are expected, then it is told so, one change at a time", async (t) => {
    session.hint({ ...hints, phrases: ["Monday"] })
    session.hint({ ...hints, phrases: ["Tuesday"] })
    session.hint({ ...hints, phrases: ["Friday"] })
    const told = () => (emulator.connections[0]?.said ?? []).filter((text) => text.includes("Configure"))
    await untilTrue("both changes", () => told().length === 2)
    t.match(told(), [/Monday/, /Friday/])
  })

  await t.test("when it reports an error, then the session is over, once, without what was said", async (t) => {
    emulator.reportError("INTERNAL_SERVER_ERROR")
    await untilTrue("the failure", () => failures().length > 0)
    t.match(failures(), [{ reason: "broken", isRetryable: true, message: "the service reports INTERNAL_SERVER_ERROR" }])
    await close()
    t.equal(failures().length, 1)
  })
  const [connection] = emulator.connections
  t.match(Object.fromEntries(connection?.query ?? []), { eot_threshold: "0.7", eager_eot_threshold: "0.5", language_hint: "en-US" })
})

t.test("given a connection that ends, then the session says why", async (t) => {
  const closes: ReadonlyArray<readonly [number, string, object]> = [
    [1011, "NET-0001 no audio in time", { reason: "broken", isRetryable: true, message: "closed with 1011 NET-0001" }],
    [1008, "DATA-0000: secret words", { reason: "refused", isRetryable: false, message: "closed with 1008 DATA-0000" }],
    [1001, "secret words", { reason: "broken", isRetryable: true, message: "the connection was closed with 1001" }]
  ]
  for (const [code, reason, error] of closes) {
    const { emulator, failures, open } = await listen(t)
    const session = await open()
    says(session, emulator.speech.audioOf("yes please").subarray(0, 1600))
    emulator.closeAll(code, reason)
    await untilTrue("the failure", () => failures().length > 0)
    t.match(failures(), [error])
    session.write(silence)
    session.finalize()
    t.equal(failures().length, 1, "once")
  }
})

t.test("given a service that cannot be used, then opening fails, and says why without the key", async (t) => {
  const wrong = await (await listen(t, { api_key: "a-wrong-key" })).whyNot()
  t.match(wrong, { reason: "auth", isRetryable: false, message: "HTTP 401" })
  t.notMatch(JSON.stringify(wrong), /a-wrong-key/)
  const emulator = new DeepgramEmulator()
  emulator.refusal = { status: 429, body: {} }
  t.match(await (await listen(t, {}, emulator)).whyNot(), { reason: "rate_limited", isRetryable: true })
  t.match(await (await listen(t, { base_url: "http://127.0.0.1:9" })).whyNot(), { reason: "unreachable", isRetryable: true })
  const forbidden = await listen(t)
  t.match(await forbidden.whyNot(webhooksOf()), { reason: "unreachable", isRetryable: false })
  t.equal(forbidden.emulator.connections.length, 0)
  t.match(await (await listen(t, { model: "../x" })).whyNot(), { reason: "refused", message: /^model is missing/ })
})

t.test("given a connection that breaks while a callee speaks, then nothing of it is lost", async (t) => {
  for (const one of served) t.strictSame(await textsOverBreak(one), ["my number is four"], one.model)
})
