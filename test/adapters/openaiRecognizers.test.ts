/** Callees as OpenAI's transcription hears them: the conformance suite, and over HTTP what the service is asked for, and its faults. */
import { Effect } from "effect"
import t from "tap"
import { recognizerConformance, type RecognizerWorld } from "#adapters/conformance/conformance.ts"
import { saidIn } from "#adapters/voice/openai/inventions.ts"
import { TranscriptionEmulator } from "#test/emulators/openai/TranscriptionEmulator.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { untilTrue } from "#test/support/until.ts"
import { egress, hints, listen, noise, recognizerOf, waits, write } from "./transcriptionScene.ts"

const conforms = (title: string, config: { readonly provider?: string; readonly connection?: string }) =>
  t.test(title, async (t) => {
    const openWorld = async (): Promise<RecognizerWorld> => {
      const emulator = await new TranscriptionEmulator().listen()
      return {
        config: { api_key: emulator.key, base_url: emulator.url, ...config },
        egress,
        speech: (text) => emulator.speech.audioOf(text),
        breakDown: () => void emulator.stop(),
        close: () => emulator.stop()
      }
    }
    const asked: Array<string> = []
    for (const { name, run } of recognizerConformance(recognizerOf(config), openWorld))
      await t.test(name, async (t) => {
        const { notAsked } = await run()
        if (notAsked === undefined) asked.push(name)
        t.pass(notAsked ?? "it holds")
      })
    t.ok(asked.length >= 6, "which asks nearly everything of it")
  })
conforms("OpenAI over HTTP", { connection: "http" })
conforms("OpenAI over its socket", { connection: "socket" })
conforms("a server of one's own", { provider: "speaches" })

t.test(
  "given somebody who speaks after a while, then what they say is posted, with its language, its terms and a little of what precedes it",
  async (t) => {
    const { emulator, events, says, session } = await listen(t)
    waits(session, 100)
    session.finalize()
    says("my number is four")
    says("my number is five")
    session.finalize()
    await untilTrue("the text", () => events.length > 1)
    const [request] = emulator.requests
    t.strictSame(request?.body?.members, { model: "whisper-1", response_format: "verbose_json", language: "no", prompt: "Trunkline, Ada." })
    t.equal(request?.body?.file.length, 44 + (20 + 50) * 320, "400 ms of silence precede a second of speech")
    t.match(events.slice(1), [
      { _tag: "Final", text: "my number is four my number is five", fromMillis: 2000, untilMillis: 3000, isForced: true }
    ])
  }
)

t.test("given settings, then the service is asked accordingly", async (t) => {
  const asked: ReadonlyArray<readonly [object, object]> = [
    [
      { model: undefined, connection: "http" },
      { model: "gpt-4o-transcribe", response_format: "json", language: "no" }
    ],
    [
      { model: "voxtral", response_format: "json", language: "auto" },
      { model: "voxtral", response_format: "json", language: undefined }
    ],
    [
      { provider: "speaches", model: undefined, api_key: "", language: "en-GB" },
      { model: "Systran/faster-distil-whisper-small.en", response_format: "verbose_json", language: "en" }
    ]
  ]
  for (const [config, members] of asked) {
    const { emulator, says, session } = await listen(t, config)
    says("yes")
    session.finalize()
    await untilTrue("a request", () => emulator.requests.length > 0)
    t.match(emulator.requests[0]?.body?.members, members)
    const { authorization } = emulator.requests[0]?.headers ?? {}
    t.equal(authorization, "api_key" in config ? undefined : `Bearer ${emulator.key}`)
  }
  t.strictSame(
    recognizerOf({})
      .faultsOf({ api_key: "k", base_url: "file:///etc/passwd", response_format: "json" })
      .map(({ field }) => field),
    ["base_url"]
  )
})

t.test("given nothing but noise, then the service is not asked, and what nobody asked for is not posted later", async (t) => {
  const { emulator, events, says, session, texts } = await listen(t)
  for (let frame = 0; frame < 50; frame++) session.write(noise, false)
  session.finalize()
  t.match(events, [{ text: "", isForced: true, fromMillis: 1000 }], "at once")
  says("not to the agent")
  waits(session, 100)
  says("yes")
  session.finalize()
  await untilTrue("the text", () => texts().length > 1)
  t.strictSame([texts(), emulator.requests.length], [["", "yes"], 1])
})

t.test("given noise that passes for speech, then what the service invents for it is dropped", async (t) => {
  const { emulator, session, texts } = await listen(t)
  const segments = [
    { text: " Good bye.", no_speech_prob: 0.7 },
    { text: " Call me.", no_speech_prob: 0.2 }
  ]
  emulator.script(
    json({ text: "Thank you for watching." }),
    json({ text: "Good bye. Call me.", segments }),
    json({ text: "Trunkline, Ada" })
  )
  for (const count of [1, 2, 3]) {
    for (let frame = 0; frame < 20; frame++) session.write(noise, true)
    session.finalize()
    await untilTrue("an answer", () => texts().length === count)
  }
  t.strictSame(texts(), ["", "Call me.", ""])
  const check = (text: string, expected: string) => t.equal(saidIn(text, ""), expected, text)
  check("Thanks for watching! Please subscribe to my channel.", "")
  check("Subtitles by the Amara.org community", "")
  check("ご視聴ありがとうございました", "")
  check("[BLANK_AUDIO]", "")
  check(" Thank you. [noise]  Bye.", "Thank you. Bye.")
  check("(555) 123-4567", "(555) 123-4567")
  check("I was watching. Thanks for watching!", "I was watching. Thanks for watching!")
  check("Subscribe me to the newsletter.", "Subscribe me to the newsletter.")
})

t.test("given a later request that is answered first, then the texts come in order", async (t) => {
  const { emulator, events, replacing, says, session, texts } = await listen(t)
  const { promise, resolve } = Promise.withResolvers<void>()
  emulator.script({ contentType: "application/json", pieces: [promise, JSON.stringify({ text: "one" })] })
  says("one")
  session.finalize()
  await untilTrue("the first request", () => emulator.requests.length === 1)
  says("two")
  session.finalize()
  session.finalize()
  await untilTrue("the second request", () => emulator.requests.length === 2)
  // Over the connection on which the second answer has come.
  says("three")
  session.finalize()
  await untilTrue("the third request", () => emulator.requests.length === 3)
  t.strictSame(events, [])
  resolve()
  await untilTrue("the texts", () => texts().length === 4)
  t.strictSame(texts(), ["one", "one two", "", "one two three"])
  t.strictSame(
    replacing(),
    [false, true, false, true],
    "and each takes the place of the one before it, which was part of the same sentence"
  )
})

t.test("given a pause of more than half a second, or a text that has been answered, then what follows is posted by itself", async (t) => {
  const { events, replacing, says, session, texts } = await listen(t)
  const saying = async (text: string) => {
    const count = events.length
    says(text)
    session.finalize()
    await untilTrue("the text", () => events.length > count)
  }
  await saying("on third")
  await saying("day")
  waits(session, 26)
  await saying("at noon")
  session.settle?.()
  await saying("goodbye")
  t.strictSame(texts(), ["on third", "on third day", "at noon", "goodbye"])
  t.strictSame(replacing(), [false, true, false, false])
  t.match(events[1], { fromMillis: 0, untilMillis: 1000 }, "then the whole is about all of it")
})

t.test("given somebody who never pauses, then what they have said for half a minute is transcribed without being asked for", async (t) => {
  const { emulator, events, session, texts } = await listen(t)
  const audio = emulator.speech.audioOf("and so on")
  const goesOn = () => {
    for (let times = 0; times < 61; times++) write(session, audio, true)
    session.finalize()
  }
  goesOn()
  await untilTrue("both parts", () => texts().length > 1)
  t.match(events, [
    { text: "and so on", isForced: false, fromMillis: 0 },
    { text: "and so on", isForced: true, untilMillis: 30_500 }
  ])
  emulator.script(json({ text: "" }))
  goesOn()
  await untilTrue("the answer", () => texts().length > 2)
  t.strictSame(texts()[2], "and so on", "no text that nobody asked for is empty")
})

const breaks: RawReply = { contentType: "application/json", pieces: ['{"text":'], ending: "reset" }
t.test("given a service that fails, then the session is over, once, and says why without what was said", async (t) => {
  const faults: ReadonlyArray<readonly [ReadonlyArray<RawReply>, object, requests: number]> = [
    [
      [json({ error: { code: "rate_limit_exceeded", message: "secret" } }, 429, { "retry-after": "2" })],
      { reason: "rate_limited", retryAfterMillis: 2000 },
      1
    ],
    [[json({ error: { code: "insufficient_quota", message: "secret" } }, 429)], { reason: "credit", isRetryable: false }, 1],
    [[json({ detail: "secret is not installed" }, 404)], { reason: "refused", isRetryable: false, message: "HTTP 404" }, 1],
    [[json({ error: { code: "invalid_api_key", message: "secret" } })], { reason: "auth", isRetryable: false }, 1],
    [[json({ words: [] })], { reason: "broken", isRetryable: true, message: "the answer has no text" }, 1],
    [[json({ text: "x".repeat(1_100_000) })], { reason: "broken", isRetryable: false, message: "the answer has too many bytes" }, 1],
    [[breaks, breaks], { reason: "broken", isRetryable: true, message: "the answer ended early" }, 2],
    [[json({}, 503), json({}, 503)], { reason: "broken", message: "HTTP 503" }, 2]
  ]
  for (const [replies, error, requests] of faults) {
    const { emulator, events, failures, says, session } = await listen(t)
    emulator.script(...replies)
    says("secret words")
    session.finalize()
    await untilTrue("the failure", () => failures().length > 0)
    t.match(failures(), [error])
    t.notMatch(failures()[0]?.message, /secret/)
    says("more")
    session.finalize()
    t.strictSame([events.length, emulator.requests.length], [1, requests])
  }
})

t.test("given a connection that breaks once before the answer, then the request is sent again", async (t) => {
  const { emulator, says, session, texts } = await listen(t)
  emulator.script(breaks)
  says("yes please")
  session.finalize()
  await untilTrue("the text", () => texts().length > 0)
  t.strictSame([texts(), emulator.requests.length], [["yes please"], 2])
})

t.test("given a service that never answers, then the session fails in time, and what is under way is given up with the call", async (t) => {
  for (const connection of ["http", "socket"]) {
    const { close, emulator, failures, says, session } = await listen(t, { connection }, 200)
    emulator.isMute = true
    says("yes please")
    session.finalize()
    await untilTrue("the failure", () => failures().length > 0)
    t.match(failures(), [{ reason: "timeout", isRetryable: true, message: "the text was not there in time" }])
    await close()
    await (connection === "http" ? emulator.untilAbandoned() : untilTrue("the end", () => emulator.calls[0]?.closedWith !== undefined))
  }
})

t.test("given no choice, then OpenAI is reached by a socket, and other servers by requests", async (t) => {
  const opened = (base_url?: string) => {
    const config = { api_key: "k", ...(base_url === undefined ? {} : { base_url }) }
    const opening = recognizerOf({})
      .recognizer(config, { egress: { ...egress, refuses: () => true } })
      .open(hints, () => {})
    return Effect.runPromise(Effect.match(Effect.scoped(opening), { onFailure: ({ reason }) => reason, onSuccess: () => "opened" }))
  }
  t.strictSame([await opened(), await opened("https://stt.example/v1")], ["unreachable", "opened"])
})
