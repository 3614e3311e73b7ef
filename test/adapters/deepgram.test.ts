/** Callees as Deepgram hears them: the conformance suite, the service's faults, and what it is sent. */
import { Effect, Exit, Fiber, Logger, Scope } from "effect"
import t, { type Test } from "tap"
import { recognizerConformance, type RecognizerWorld } from "#adapters/conformance/conformance.ts"
import { deepgram } from "#adapters/voice/deepgram/deepgram.ts"
import type { RecognizerEvent, RecognizerHints } from "#core/model/SpeechToText.ts"
import { makeHearing } from "#runtime/voice/Hearing.ts"
import { DeepgramEmulator } from "#test/emulators/deepgram/DeepgramEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { untilTrue } from "#test/support/until.ts"

const egress = webhooksOf({ privateWebhooks: true })
const hints: RecognizerHints = { language: "en-US", keyterms: ["Trunkline"], phrases: ["yes"] }
const silence = new Int16Array(160)

const openWorld = async (model: string): Promise<RecognizerWorld> => {
  const emulator = await new DeepgramEmulator().listen()
  return {
    config: { api_key: emulator.key, base_url: emulator.url, model },
    egress,
    speech: (text) => emulator.speech.audioOf(text),
    breakDown: () => {
      emulator.isMute = true
    },
    close: () => emulator.stop()
  }
}
for (const model of ["nova-3-general", "flux-general-en"])
  t.test(model, async (t) => {
    const asked: Array<string> = []
    for (const { name, run } of recognizerConformance(deepgram, () => openWorld(model)))
      await t.test(name, async (t) => {
        const { notAsked } = await run()
        if (notAsked === undefined) asked.push(name)
        t.pass(notAsked ?? "it holds")
      })
    t.ok(asked.length >= 5, "which asks nearly everything of it")
  })

/** A call that an emulator listens to. */
const listen = async (t: Test, config: object = {}, emulator = new DeepgramEmulator()) => {
  await emulator.listen()
  const scope = Scope.makeUnsafe()
  t.teardown(async () => {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    await emulator.stop()
  })
  const events: Array<RecognizerEvent> = []
  const recognizer = deepgram.recognizer({ api_key: emulator.key, base_url: emulator.url, ...config }, { egress })
  const opening = recognizer.open(hints, (event) => void events.push(event))
  const open = () => Effect.runPromise(Scope.provide(opening, scope))
  const finals = () => events.flatMap((event) => (event._tag === "Final" ? [[event.text, event.isForced]] : []))
  const failures = () => events.flatMap((event) => (event._tag === "Failed" ? [event.error] : []))
  return { close: () => Effect.runPromise(Scope.close(scope, Exit.void)), emulator, events, failures, finals, open, opening, scope }
}
/** What a refused opening says. */
const whyNot = ({ opening, scope }: Awaited<ReturnType<typeof listen>>) => Effect.runPromise(Effect.flip(Scope.provide(opening, scope)))
const says = (session: { readonly write: (samples: Int16Array) => void }, audio: Int16Array) => {
  for (let at = 0; at < audio.length; at += 160) session.write(audio.subarray(at, at + 160))
}

t.test("given a call, then the service is asked for its language and its terms, and told when it is over", async (t) => {
  const { close, emulator, open } = await listen(t)
  const session = await open()
  session.write(silence)
  await untilTrue("audio", () => (emulator.connections[0]?.frames ?? 0) >= 2)
  const [connection] = emulator.connections
  t.match(Object.fromEntries(connection?.query ?? []), { model: "nova-3-general", language: "en-US", interim_results: "true" })
  t.strictSame(connection?.query.getAll("keyterm"), ["Trunkline", "yes"])
  await close()
  await untilTrue("the end of the connection", () => connection?.closedWith !== undefined)
  t.strictSame([connection?.said.at(-1), connection?.closedWith], ['{"type":"CloseStream"}', 1000])
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
      for (let frames = 0; frames < 10; frames++) session.write(silence)
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
  const { close, emulator, events, failures, open } = await listen(t, { model: "flux-general-multi" })
  const session = await open()
  const quiet = (frames: number) => {
    for (let at = 0; at < frames; at++) session.write(silence)
  }
  const tags = () => events.map((event) => ("text" in event ? `${event._tag} ${event.text}` : event._tag))

  await t.test("when a callee pauses and goes on, then the end is foreseen, taken back, and declared with the whole turn", async (t) => {
    says(session, emulator.speech.audioOf("yes"))
    quiet(8)
    says(session, emulator.speech.audioOf("on Monday"))
    quiet(20)
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
  const wrong = await whyNot(await listen(t, { api_key: "a-wrong-key" }))
  t.match(wrong, { reason: "auth", isRetryable: false, message: "HTTP 401" })
  t.notMatch(JSON.stringify(wrong), /a-wrong-key/)
  const emulator = new DeepgramEmulator()
  emulator.refusal = { status: 429, body: {} }
  t.match(await whyNot(await listen(t, {}, emulator)), { reason: "rate_limited", isRetryable: true })
  t.match(await whyNot(await listen(t, { base_url: "http://127.0.0.1:9" })), { reason: "unreachable", isRetryable: true })
  const { emulator: own, scope } = await listen(t)
  const closed = deepgram.recognizer({ api_key: own.key, base_url: own.url }, { egress: webhooksOf() }).open(hints, () => {})
  t.match(await Effect.runPromise(Effect.flip(Scope.provide(closed, scope))), { reason: "unreachable", isRetryable: false })
  t.equal(own.connections.length, 0)
  t.match(await whyNot(await listen(t, { model: "../x" })), { reason: "refused", message: /^model is missing/ })
})

t.test("given a connection that breaks while a callee speaks, then nothing of it is lost", async (t) => {
  for (const model of ["nova-3-general", "flux-general-en"]) {
    const emulator = await new DeepgramEmulator().listen()
    const recognizer = deepgram.recognizer({ api_key: emulator.key, base_url: emulator.url, model }, { egress })
    const texts: Array<string> = []
    const hearing = makeHearing([recognizer], hints, (event) => {
      if ((event._tag === "Final" || event._tag === "EndDeclared") && event.text !== "") texts.push(event.text)
    })
    const running = Effect.runFork(Effect.provide(hearing.run, Logger.layer([])))
    const audio = emulator.speech.audioOf("my number is four")
    await untilTrue("a connection", () => emulator.connections.length === 1)
    const middle = audio.length / 2 - ((audio.length / 2) % 160)
    says(hearing, audio.subarray(0, middle))
    await untilTrue("half of the audio", () => (emulator.connections[0]?.frames ?? 0) >= 10)
    emulator.closeAll(1011, "NET-0000 upstream")
    await untilTrue("another connection", () => emulator.connections.length === 2)
    says(hearing, audio.subarray(middle))
    hearing.finalize()
    await untilTrue("the text", () => texts.length > 0)
    t.strictSame(texts, ["my number is four"], model)
    await Effect.runPromise(Fiber.interrupt(running))
    await emulator.stop()
  }
})
