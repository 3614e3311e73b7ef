/** The voices of services: the conformance suite, what each service is asked for, and its faults. */
import Cartesia from "@cartesia/cartesia-js"
import { DeepgramClient } from "@deepgram/sdk"
import { Effect, Stream } from "effect"
import { createServer } from "node:net"
import OpenAI from "openai"
import t from "tap"
import { voiceConformance, type VoiceWorld } from "#adapters/conformance/conformance.ts"
import { cartesiaWith } from "#adapters/voice/cartesia/cartesia.ts"
import { timedWords } from "#adapters/voice/cartesia/timedWords.ts"
import { auraWith } from "#adapters/voice/deepgram/aura.ts"
import { elevenlabsWith } from "#adapters/voice/elevenlabs/elevenlabs.ts"
import { timedCharacters } from "#adapters/voice/elevenlabs/timedCharacters.ts"
import { openaiVoices } from "#adapters/voice/openai/speech.ts"
import { eventReader, type SpokenEvents } from "#adapters/voice/shared/SpokenEvents.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { connectionTo } from "#adapters/voice/shared/ServiceConnection.ts"
import type { TextToSpeechProvider } from "#core/model/TextToSpeechProvider.ts"
import { json, type RawReply } from "#test/emulators/shared/ModelEmulator.ts"
import { cartesiaEvent, cartesiaEvents, elevenlabsLine, halvesOf, speechOf } from "#test/emulators/voices/timedSpeech.ts"
import { VoiceEmulator } from "#test/emulators/voices/VoiceEmulator.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { localPort } from "#test/support/localPort.ts"
import { untilTrue } from "#test/support/until.ts"

const egress = webhooksOf({ privateWebhooks: true })
const [openai, speaches] = openaiVoices()
if (openai === undefined || speaches === undefined) throw new Error("a voice is missing")

interface Told {
  readonly path: string
  readonly body: object
  /** What is paid for, if it is not the voice. */
  readonly model?: string
}
/** By provider: the path that follows the service's address, settings, and what the service is then asked for. */
const voices: ReadonlyArray<readonly [TextToSpeechProvider, path: string, settings: object, Told]> = [
  [
    openai,
    "/v1",
    { voice: "coral", speed: "1.1", instructions: "calm" },
    {
      path: "/v1/audio/speech",
      body: { model: "gpt-4o-mini-tts", input: "Hi.", voice: "coral", response_format: "pcm", speed: 1.1, instructions: "calm" },
      model: "gpt-4o-mini-tts"
    }
  ],
  [
    speaches,
    "/v1",
    {},
    { path: "/v1/audio/speech", body: { model: "kokoro", input: "Hi.", voice: "af_heart", response_format: "pcm" }, model: "kokoro" }
  ],
  [
    auraWith(),
    "",
    { speed: "1.2" },
    { path: "/v1/speak?model=aura-2-helena-en&encoding=mulaw&sample_rate=8000&container=none&speed=1.2", body: { text: "Hi." } }
  ],
  [
    elevenlabsWith(),
    "",
    { voice: "Rachel - 21m00Tcm4TlvDq8ikWAM", speed: 2, language: "de" },
    {
      path: "/v1/text-to-speech/21m00Tcm4TlvDq8ikWAM/stream/with-timestamps?output_format=ulaw_8000",
      body: {
        text: "Hi.",
        model_id: "eleven_flash_v2_5",
        voice_settings: { stability: 0.8, similarity_boost: 0.75, speed: 1.2 },
        language_code: "de"
      },
      model: "eleven_flash_v2_5"
    }
  ],
  [
    cartesiaWith(),
    "",
    { voice: "3faa81ae", volume: "0.8" },
    {
      path: "/tts/sse",
      body: {
        model_id: "sonic-3.5",
        transcript: "Hi.",
        voice: { mode: "id", id: "3faa81ae" },
        language: "en",
        output_format: { container: "raw", encoding: "pcm_mulaw", sample_rate: 8000 },
        generation_config: { volume: 0.8 },
        add_timestamps: true,
        use_normalized_timestamps: false
      },
      model: "sonic-3.5"
    }
  ]
]

const open = async () => {
  const emulator = await new VoiceEmulator().listen()
  const configOf = (path: string, settings: object) => ({
    api_key: emulator.key,
    base_url: `${emulator.origin}${path}`,
    ...settings
  })
  return { configOf, emulator }
}
/** The error of a voice that speaks once, and how much of it came before. */
const spoken = (provider: TextToSpeechProvider, config: object) => {
  let bytes = 0
  const speaking = Stream.runForEach(provider.speaker({ ...config }, { egress }).speak("Hi.", { isAnswered: true, neededAt: 0 }), (part) =>
    Effect.sync(() => void (bytes += part instanceof Uint8Array ? part.length : 0))
  )
  return Effect.runPromise(
    Effect.match(speaking, { onFailure: (error) => ({ bytes, error }), onSuccess: () => ({ bytes, error: undefined }) })
  )
}

for (const [provider, path, settings, told] of voices)
  t.test(`${provider.manifest.title}`, async (t) => {
    const openWorld = async (): Promise<VoiceWorld> => {
      const { configOf, emulator } = await open()
      const config = configOf(path, settings)
      return {
        config,
        egress,
        script: (ending) => {
          emulator.ending = ending
        },
        wrongConfig: { ...config, api_key: "a-wrong-key-of-somebody" },
        givenUp: () => emulator.untilAbandoned(),
        close: () => emulator.stop()
      }
    }
    const tellsWords = ["elevenlabs", "cartesia"].includes(provider.manifest.provider)
    for (const { name, run } of voiceConformance(provider, openWorld))
      await t.test(name, async (t) => {
        const { notAsked } = await run()
        t.equal(notAsked !== undefined, name.startsWith("words:") && !tellsWords, "it holds")
      })

    await t.test("when it is asked to speak, then the service is asked for that voice, in a format for the phone", async (t) => {
      const { configOf, emulator } = await open()
      t.teardown(() => emulator.stop())
      t.match(await spoken(provider, configOf(path, settings)), { error: undefined })
      t.strictSame([emulator.requests[0]?.path, emulator.requests[0]?.body], [told.path, told.body])
      t.equal(provider.speaker(configOf(path, settings), { egress }).model, told.model, "and it says what is paid for")
      await spoken(provider, configOf(path, settings))
      t.strictSame(
        provider.faultsOf({ voice: "v", api_key: "k", base_url: "file:///etc/passwd" }).map(({ field }) => field),
        ["base_url"]
      )
    })
  })

t.test("given a service that refuses or stays silent, then the error says why, without the text", async (t) => {
  const { configOf, emulator } = await open()
  t.teardown(() => emulator.stop())
  const elevenlabs = elevenlabsWith({ firstMillis: 100, betweenMillis: 100 })
  const config = configOf("", {})
  const replies: ReadonlyArray<readonly [RawReply, object]> = [
    [
      json({ detail: { status: "quota_exceeded", message: "Hi." } }, 401),
      { reason: "credit", isRetryable: false, message: "HTTP 401 quota_exceeded" }
    ],
    [
      json({ detail: { status: "system_busy" } }, 429, { "retry-after": "1" }),
      { reason: "rate_limited", isRetryable: true, retryAfterMillis: 1000 }
    ],
    [json({ detail: "Hi." }, 500), { reason: "broken", isRetryable: true, message: "HTTP 500" }],
    [json({ error: { code: "overloaded", message: "Hi." } }), { reason: "rate_limited", isRetryable: true }],
    [
      { pieces: [], ending: "hang", contentType: "audio/basic" },
      { reason: "timeout", message: "the speech did not begin in time" }
    ]
  ]
  for (const [reply, error] of replies) {
    emulator.script(reply)
    const said = await spoken(elevenlabs, config)
    t.match(said, { bytes: 0, error })
    t.notMatch(said.error?.message, /Hi/)
  }
  emulator.script({ pieces: [`{"audio_base64":"${Buffer.alloc(100).toString("base64")}"}\n{"audio`], ending: "hang" })
  t.match(await spoken(elevenlabs, config), { bytes: 100, error: { reason: "timeout", message: "the speech did not continue in time" } })
})

/** What is read of a reply that arrives in pieces of this size. */
const readIn = (events: SpokenEvents, reply: string, size = 1024) => {
  const [parts, words, ends]: [Array<Uint8Array>, Array<string>, Array<ModelError | undefined>] = [[], [], []]
  const reader = eventReader(events, "Hi. the-key", {
    part: (part) => void (part instanceof Uint8Array ? parts.push(part) : words.push(`${part.word} ${Math.round(part.untilMillis)}`)),
    done: (error) => void ends.push(error)
  })
  const bytes = Buffer.from(reply)
  for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
  reader.end()
  return { bytes: Buffer.concat(parts), words, end: ends[0] }
}

t.test("given speech with times, however its reply is cut, then the same speech and words are read", async (t) => {
  const text = "Grüß Gott, — München 你好."
  const [first, rest] = halvesOf(text)
  const line = elevenlabsLine(first) + elevenlabsLine(rest)
  const events = cartesiaEvents(first) + cartesiaEvents(rest) + cartesiaEvent("done", {})
  for (const size of [1, 2, 7, 100_000]) {
    for (const { bytes, end } of [readIn(timedCharacters(), line, size), readIn(timedWords(), events, size)])
      t.strictSame([bytes.equals(speechOf(text, 8000)), end], [true, undefined])
    const words = ["Grüß 240", "Gott, 600", "— 2660", "München 3140", "你好. 3380"]
    t.strictSame(readIn(timedWords(), events, size).words, words)
    t.strictSame(readIn(timedCharacters(), line, size).words, words.with(1, "Gott, 540").with(2, "— 540").with(4, "你好. 3320"))
  }
})

t.test("given a reply with times that has a fault, then its speech is read all the same, or the error says why", async (t) => {
  const [first, rest] = halvesOf("Hi. You there")
  const wrong = { characters: ["H", 5, "i"], character_end_times_seconds: [0.1, "late"] }
  const faults: ReadonlyArray<readonly [() => SpokenEvents, reply: string, expected: object]> = [
    [timedCharacters, elevenlabsLine(first, null) + elevenlabsLine(rest, null), { words: [], end: undefined }],
    [timedCharacters, elevenlabsLine(first, {}) + elevenlabsLine(rest, wrong), { words: ["H 100", "i NaN"], end: undefined }],
    [timedCharacters, elevenlabsLine(first) + elevenlabsLine(rest).slice(0, 50), { end: { reason: "broken" } }],
    [timedCharacters, `${elevenlabsLine(first)}{"detail":{"status":"quota_exceeded","message":"Hi."}}`, { end: { reason: "credit" } }],
    [timedWords, cartesiaEvents(first) + cartesiaEvents(rest), { end: { reason: "broken", message: "the speech ended early" } }],
    [
      timedWords,
      cartesiaEvent("timestamps", { word_timestamps: { words: ["a"] } }) + cartesiaEvent("done", {}),
      { words: [], end: undefined }
    ],
    [
      timedWords,
      cartesiaEvents(first) + cartesiaEvent("error", { status_code: 429, error_code: "concurrency_limited", message: "Hi." }),
      { end: { reason: "rate_limited", message: "HTTP 429 concurrency_limited" } }
    ],
    [timedWords, `data: ${"a".repeat(5_000_000)}`, { end: { reason: "broken", isRetryable: false } }],
    [timedCharacters, "a".repeat(5_000_000), { end: { reason: "broken", isRetryable: false } }]
  ]
  for (const [events, reply, expected] of faults) {
    const { end, words } = readIn(events(), reply)
    t.match({ end, words }, expected, reply.slice(0, 60))
    t.notMatch(end?.message, /Hi/)
  }
})

t.test("given one voice, when it is connected to and speaks several times, then it has one connection", async (t) => {
  const { configOf, emulator } = await open()
  t.teardown(() => emulator.stop())
  const voice = cartesiaWith().speaker(configOf("", { voice: "v1" }), { egress })
  const warm = voice.warm ?? Effect.void
  await Effect.runPromise(Effect.andThen(warm, warm))
  await untilTrue("a connection", () => emulator.connections > 0)
  t.equal(emulator.requests.length, 0)
  const speaks = () => Effect.runPromise(Stream.runDrain(voice.speak("Hi.", { isAnswered: true, neededAt: 0 })))
  for (let times = 0; times < 3; times++) await speaks()
  await Effect.runPromise(warm)
  await speaks()
  t.strictSame([emulator.requests.length, emulator.connections], [4, 1])
})

t.test(
  "given a connection that nobody uses, then it is closed after a while, and not opened where the engine may not connect to",
  async (t) => {
    const server = createServer()
    t.teardown(() => server.close())
    const base = new URL(`http://127.0.0.1:${await localPort(server)}`)
    let connections = 0
    const closed = new Promise((resolve) =>
      server.on("connection", (socket) => {
        connections++
        socket.on("close", resolve).resume()
      })
    )
    connectionTo(base, webhooksOf(), 20).warm()
    connectionTo(base, egress, 20).warm()
    await closed
    t.equal(connections, 1)
  }
)

t.test("the vendors' own clients read the emulator's speech", async (t) => {
  const { emulator } = await open()
  t.teardown(() => emulator.stop())
  const client = new OpenAI({ apiKey: emulator.key, baseURL: `${emulator.origin}/v1`, maxRetries: 0 })
  const reply = await client.audio.speech.create({ model: "gpt-4o-mini-tts", voice: "coral", input: "Hi.", response_format: "pcm" })
  t.equal((await reply.arrayBuffer()).byteLength, 8640)
  const cartesia = new Cartesia({ apiKey: emulator.key, baseURL: emulator.origin, maxRetries: 0 })
  const events = await cartesia.tts.generateSSE({
    model_id: "sonic-3.5",
    transcript: "Hi there.",
    voice: { mode: "id", id: "3faa81ae" },
    output_format: { container: "raw", encoding: "pcm_mulaw", sample_rate: 8000 },
    add_timestamps: true
  })
  const said: Array<string> = []
  for await (const event of events) if (event.type === "timestamps") said.push(...event.word_timestamps.words)
  t.strictSame(said, ["Hi", "there."])
  const deepgram = new DeepgramClient({
    apiKey: emulator.key,
    environment: { base: emulator.origin, production: emulator.origin, agent: emulator.origin, agentRest: emulator.origin }
  })
  const audio = await deepgram.speak.v1.audio.generate({
    text: "Hi.",
    model: "aura-2-helena-en",
    encoding: "mulaw",
    sample_rate: 8000,
    container: "none"
  })
  t.equal((await audio.arrayBuffer()).byteLength, 1440)
})
