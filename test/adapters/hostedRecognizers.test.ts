/** Callees as ElevenLabs and Cartesia hear them: the conformance suite, the services' faults, and what they are sent. */
import t, { type Test } from "tap"
import { ink } from "#adapters/voice/cartesia/ink.ts"
import { scribeWith } from "#adapters/voice/elevenlabs/scribe.ts"
import { hints, listen as listenWith, pauses, says, silence, testConformance, textsOverBreak } from "#test/adapters/serviceScene.ts"
import { InkEmulator } from "#test/emulators/cartesia/InkEmulator.ts"
import { ScribeEmulator } from "#test/emulators/elevenlabs/ScribeEmulator.ts"
import { untilTrue } from "#test/support/until.ts"

const services = {
  scribe: { provider: scribeWith(), model: "scribe_v2_realtime", emulator: () => new ScribeEmulator() },
  whisper: { provider: ink, model: "ink-whisper", emulator: () => new InkEmulator() },
  turns: { provider: ink, model: "ink-2", emulator: () => new InkEmulator() }
}
for (const served of Object.values(services)) t.test(served.model, (t) => testConformance(t, served))

const scribe = (t: Test, emulator = new ScribeEmulator(), config: object = {}) => listenWith(t, scribeWith(), emulator, config)
const inkCall = (t: Test, emulator = new InkEmulator(), config: object = {}) => listenWith(t, ink, emulator, config)

t.test("given a call, then the service is asked for its language and its terms, and told when it is over", async (t) => {
  const audio = { encoding: "pcm_mulaw", sample_rate: "8000" }
  const expected = {
    scribe: {
      path: "/v1/speech-to-text/realtime",
      query: { model_id: "scribe_v2_realtime", audio_format: "ulaw_8000", commit_strategy: "manual", language_code: "en" },
      // The last one is longer than the service takes.
      terms: { keyterms: ["Trunkline", "yes"] },
      said: ['{"message_type":"input_audio_chunk","audio_base_64":"","commit":true,"sample_rate":8000}']
    },
    whisper: {
      path: "/stt/websocket",
      query: { model: "ink-whisper", language: "en", ...audio },
      terms: { keyterm: ["Trunkline", ...hints.phrases] },
      said: ["finalize", "close"]
    },
    turns: {
      path: "/stt/turns/websocket",
      query: { model: "ink-2", turn_end_timeout_ms: "3000", ...audio },
      terms: { keyterm: ["Trunkline", ...hints.phrases] },
      said: ['{"type":"close"}']
    }
  }
  for (const service of ["scribe", "whisper", "turns"] as const) {
    const { emulator: made, model, provider } = services[service]
    const { close, emulator, open } = await listenWith<InkEmulator | ScribeEmulator>(t, provider, made(), { model })
    const session = await open()
    // One piece, and what there is of the next when the text is asked for.
    pauses(session, 7)
    session.finalize()
    const [connection] = emulator.connections
    await untilTrue("audio", () => connection?.frames === 7)
    await close()
    await untilTrue("the end of the connection", () => connection?.closedWith === 1000)
    const { path, query, said, terms } = expected[service]
    const { keyterm: _, keyterms: __, ...others } = Object.fromEntries(connection?.query ?? [])
    t.strictSame([connection?.path, others], [path, query], service)
    for (const [name, values] of Object.entries(terms)) t.strictSame(connection?.query.getAll(name), values, service)
    t.strictSame(connection?.said.slice(-said.length), said, service)
  }
})

t.test("given other languages, then they are sent as the services know them", async (t) => {
  for (const [language, expected] of [
    ["pt-BR", "pt"],
    ["auto", null]
  ] as const) {
    const { emulator, open } = await scribe(t, new ScribeEmulator(), { language })
    await open()
    t.equal(emulator.connections[0]?.query.get("language_code"), expected)
  }
  for (const [language, expected] of [
    ["de", "de"],
    ["multi", "en"]
  ] as const) {
    const { emulator, open } = await inkCall(t, new InkEmulator(), { language })
    await open()
    t.equal(emulator.connections[0]?.query.get("language"), expected)
  }
  const { whyNot } = await inkCall(t, new InkEmulator(), { language: "de", model: "ink-2" })
  t.match(await whyNot(), { reason: "refused", isRetryable: false, message: /English/ })
})

t.test("given ElevenLabs' faults", async (t) => {
  await t.test(
    "when there is too little audio to commit, then the answer is made up, and what was said comes with the next one",
    async (t) => {
      const { emulator, events, finals, open } = await scribe(t)
      const session = await open()
      says(session, emulator.speech.audioOf("yes").subarray(0, 5 * 160))
      session.finalize()
      await untilTrue("an answer", () => finals().length >= 1)
      pauses(session, 30)
      session.finalize()
      await untilTrue("the text", () => finals().length >= 2)
      t.strictSame(finals(), [
        ["", true],
        ["yes", true]
      ])
      t.match(events.at(-1), { fromMillis: 0, untilMillis: 100 })
    }
  )

  await t.test("when a text comes late or unasked, then it is no answer, and the next one is", async (t) => {
    const { emulator, finals, open } = await scribe(t)
    const session = await open()
    emulator.answersFinalize = false
    pauses(session, 20)
    session.finalize()
    await untilTrue("an answer", () => finals().length >= 1)
    emulator.report({ message_type: "committed_transcript", text: " yes" })
    emulator.report({ message_type: "committed_transcript", text: "" })
    await untilTrue("the text", () => finals().length >= 2)
    emulator.answersFinalize = true
    says(session, emulator.speech.audioOf("please"))
    session.finalize()
    await untilTrue("an answer", () => finals().length >= 3)
    t.strictSame(finals(), [
      ["", true],
      ["yes", false],
      ["please", true]
    ])
  })

  await t.test("when the callee is silent, then the connection is kept alive with silence", async (t) => {
    const { emulator, open } = await listenWith(t, scribeWith(20), new ScribeEmulator())
    await open()
    await untilTrue("silence", () => (emulator.connections[0]?.frames ?? 0) >= 2)
    t.equal(new Set(emulator.connections[0]?.said).size, 1)
  })
})

t.test("given a text in pieces that end anywhere, then they are joined as they are, and are one answer", async (t) => {
  const { emulator, events, finals, open, tags } = await inkCall(t)
  emulator.splits = true
  const session = await open()
  pauses(session, 50)
  says(session, emulator.speech.audioOf("my number is four"))
  session.finalize()
  await untilTrue("an answer", () => finals().length >= 1)
  t.strictSame(finals(), [["my number is four", true]])
  t.match(tags(), ["Partial my number is four", "Partial my", "Partial my num"])
  t.match(events.at(-1), { fromMillis: 1000, untilMillis: 1500 })
  pauses(session, 5)
  session.finalize()
  await untilTrue("an answer", () => finals().length >= 2)
  t.strictSame(finals()[1], ["", true], "of which nothing is left")
})

t.test("given a recognizer that ends turns", async (t) => {
  const { emulator, events, open, tags } = await inkCall(t, new InkEmulator(), { model: "ink-2" })
  const session = await open()
  const ended = () => events.filter(({ _tag }) => _tag === "EndDeclared").length

  await t.test("when a callee pauses and goes on, then the end is foreseen, taken back, and declared with the whole turn", async (t) => {
    says(session, emulator.speech.audioOf("yes"))
    pauses(session, 8)
    says(session, emulator.speech.audioOf("on Monday"))
    pauses(session, 20)
    await untilTrue("the end of the turn", () => ended() >= 1)
    t.strictSame(tags().splice(0), [
      "Partial ",
      "Partial yes",
      "EndForeseen yes",
      "EndRevoked",
      "Partial yes on Monday",
      "EndForeseen yes on Monday",
      "EndDeclared yes on Monday"
    ])
  })

  await t.test("when no audio comes any more, then a turn that has begun ends nevertheless, and keeps its text", async (t) => {
    emulator.endsWithoutWords = true
    says(session, emulator.speech.audioOf("no"))
    await untilTrue("the end of the turn", () => ended() >= 2)
    t.equal(tags().at(-1), "EndDeclared no")
  })
})

t.test("given a phone that only rings, then a service that is paid for silence is sent none", async (t) => {
  const [ringing, talking] = [await inkCall(t, undefined, { model: "ink-2" }), await inkCall(t, undefined, { model: "ink-2" })]
  await ringing.open()
  const session = await talking.open()
  session.write(silence)
  await untilTrue("silence after a callee's audio", () => (talking.emulator.connections[0]?.frames ?? 0) > 1)
  t.equal(ringing.emulator.connections[0]?.frames, 0)
})

t.test("given an error that a service reports, then the session is over, once, and says why without quoting it", async (t) => {
  const broken = { reason: "broken", isRetryable: true }
  const refused = { reason: "refused", isRetryable: false }
  const ofScribe = {
    auth_error: { reason: "auth", isRetryable: false },
    quota_exceeded: { reason: "credit", isRetryable: false },
    rate_limited: { reason: "rate_limited", isRetryable: true },
    resource_exhausted: { reason: "rate_limited", isRetryable: true },
    unaccepted_terms_error: refused,
    input_error: refused,
    chunk_size_exceeded: refused,
    queue_overflow: broken,
    session_time_limit_exceeded: broken,
    transcriber_error: broken,
    error: broken
  }
  const ofInk: ReadonlyArray<readonly [number, object]> = [
    [400, refused],
    [401, { reason: "auth", isRetryable: false }],
    [402, { reason: "credit", isRetryable: false }],
    [404, refused],
    [429, { reason: "rate_limited", isRetryable: true }],
    [503, broken]
  ]
  const failing = async (call: Awaited<ReturnType<typeof inkCall | typeof scribe>>, report: () => void, expected: object) => {
    const { close, emulator, events, failures, open } = call
    const session = await open()
    says(session, silence)
    await untilTrue("the connection", () => emulator.connections.length === 1)
    report()
    await untilTrue("the failure", () => failures().length > 0)
    session.write(silence)
    session.finalize()
    await close()
    t.match(events, [{ _tag: "Failed", error: expected }])
    t.notMatch(JSON.stringify(events), /secret words|sk_car|0123456789abcdef/)
  }
  for (const [type, expected] of Object.entries(ofScribe)) {
    const call = await scribe(t)
    await failing(call, () => call.emulator.reportError(type), { ...expected, message: `the service reports ${type}` })
  }
  for (const [status, expected] of ofInk) {
    const [call, quoting] = [await inkCall(t), await inkCall(t)]
    await failing(call, () => call.emulator.reportError(status, "some_code"), { ...expected, message: `HTTP ${status} some_code` })
    await failing(quoting, () => quoting.emulator.reportError(status, "sk_car"), { ...expected, message: `HTTP ${status}` })
  }
})

t.test("given a wrong key, then the error says so without it", async (t) => {
  const wrong = { api_key: "a-wrong-key" }
  const ofInk = await (await inkCall(t, new InkEmulator(), wrong)).whyNot()
  t.match(ofInk, { reason: "auth", isRetryable: false, message: "HTTP 401" })
  const { failures, open } = await scribe(t, new ScribeEmulator(), wrong)
  await open()
  await untilTrue("the failure", () => failures().length > 0)
  t.match(failures(), [{ reason: "auth", isRetryable: false, message: "the service reports auth_error" }])
  t.notMatch(JSON.stringify([ofInk, failures()]), /a-wrong-key/)
})

t.test("given a connection that breaks while a callee speaks, then nothing of it is lost", async (t) => {
  for (const served of Object.values(services)) t.strictSame(await textsOverBreak(served), ["my number is four"], served.model)
})
