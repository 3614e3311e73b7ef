/** The speech of services that agents choose: what is shared and cached, when it is heard, and what happens to speech that breaks off. */
import { Cause, Effect, Fiber, Layer, Queue, type Scope, Stream } from "effect"
import t from "tap"
import { usualServices } from "#adapters/services.ts"
import { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { voiceOf } from "#core/model/ChosenVoice.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import type { SpeechPart, SpeechWanted, TextToSpeech } from "#core/model/TextToSpeech.ts"
import { defineTextToSpeech } from "#core/model/TextToSpeechProvider.ts"
import { optionalText, token } from "#core/provider/Credential.ts"
import { FliteVoices } from "#runtime/voice/FliteVoices.ts"
import type { WordMark } from "#core/voice/WordMarks.ts"
import * as SpokenTts from "#runtime/voice/SpokenTts.ts"
import { Tts } from "#runtime/voice/Tts.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { planOf, text } from "#test/support/talk.ts"
import { toldTo } from "#test/support/talkScene.ts"
import { definition } from "#test/support/talkScript.ts"
import { loopback, planOfCall } from "#test/support/voiceScene.ts"
import { loudFrames, stretches, voiceIn } from "./callVoice.ts"

const { attached, calling, conversing } = await voiceIn(t)

const frameSize = 160
const frames = (count: number) => new Uint8Array(count * frameSize).fill(0x10)
const broken = new ModelError({ reason: "broken", isRetryable: true, message: "it broke off" })

type Answer = Queue.Queue<SpeechPart, ModelError | Cause.Done>

/** A service that speaks when the test says so. */
class Service {
  readonly asked: Array<string> = []
  readonly open = new Map<string, Answer>()
  readonly provider
  mostAtOnce = 0

  constructor(altered: Partial<TextToSpeech> = {}) {
    this.provider = defineTextToSpeech({
      manifest: { contract: 1, kind: "tts", provider: "acme", title: "Acme", description: "" },
      fields: { api_key: token({ label: "Key" }), voice: optionalText({ label: "Voice", default: "anna" }) },
      speaker: ({ voice }) => ({
        provider: "acme",
        voice,
        format: { encoding: "mulaw", rate: 8000 },
        isCacheable: true,
        ownsQueue: false,
        atOnce: 2,
        speak: (asked) => this.#speak(asked),
        ...altered
      })
    })
  }

  #speak(asked: string) {
    return Stream.callback<SpeechPart, ModelError>((queue) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          this.asked.push(asked)
          this.open.set(asked, queue)
          this.mostAtOnce = Math.max(this.mostAtOnce, this.open.size)
        }),
        () => Effect.sync(() => void this.open.delete(asked))
      )
    )
  }

  readonly isAsked = (asked: string) => () => this.open.has(asked)

  give(asked: string, ...parts: ReadonlyArray<SpeechPart>): void {
    Queue.offerAllUnsafe(this.#answer(asked), parts)
  }

  end(asked: string, bytes: Uint8Array): void {
    this.give(asked, bytes)
    Queue.endUnsafe(this.#answer(asked))
  }

  breakOff(asked: string): void {
    Queue.failCauseUnsafe(this.#answer(asked), Cause.fail(broken))
  }

  #answer(asked: string): Answer {
    const answer = this.open.get(asked)
    if (answer === undefined) throw new Error(`nobody has asked for ${asked}`)
    return answer
  }

  /** The voice of an organization with these settings. */
  readonly voiceFor = (settings: JsonObject = {}, organization = 1) => {
    const registry = Effect.runSync(Effect.provide(ServiceRegistry, ServiceRegistry.layerOf([this.provider], usualServices)))
    const host = { egress: webhooksOf({ privateWebhooks: false }) }
    return voiceOf(registry, OrganizationId.make(organization), { provider: "acme", api_key: "key-of-ours", ...settings }, host)
  }
}

const until = (holds: () => boolean) =>
  Effect.promise(async () => {
    while (!holds()) await new Promise((resolve) => setImmediate(resolve))
  })

/** Waits for everything that only needs its turn of the event loop. */
const turned = Effect.promise(async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
})

/** In these tests, services may be as slow as the machine, except where it matters. */
const patient = { timeoutMillis: 600_000, stallMillis: 600_000, firstSoundMillis: 600_000 }
const ttsWith = (options: typeof patient) => SpokenTts.layer(options).pipe(Layer.provide(FliteVoices.layer({ workers: 1 })))
const tts = ttsWith(patient)
type Speaking<A> = (speak: Tts["Service"]["speak"]) => Effect.gen.Return<A, unknown, Scope.Scope>
const speaking = <A>(use: Speaking<A>, options = patient) => {
  const work = Effect.gen(function* () {
    return yield* use((yield* Tts).speak)
  })
  return Effect.runPromise(Effect.scoped(work).pipe(Effect.provide(Layer.fresh(ttsWith(options)))))
}

const start = <A, E>(work: Effect.Effect<A, E>) => Effect.forkChild(work, { startImmediately: true })

t.test("given speech that a service has made, then it is asked again only for another organization or other settings", async (t) => {
  const service = new Service()
  const first = service.voiceFor()
  const others = [{ voice: "bert" }, { api_key: "key-of-others" }].map((settings) => service.voiceFor(settings))
  const voices = [first, ...others, service.voiceFor({}, 2), service.voiceFor({ voice: "anna" }), first]
  const lengths = await speaking(function* (speak) {
    return yield* Effect.forEach(voices, (voice, index) =>
      Effect.gen(function* () {
        const asked = service.asked.length
        const speech = yield* start(speak("Hello.", undefined, voice))
        yield* until(() => service.asked.length > asked || speech.pollUnsafe() !== undefined)
        if (service.asked.length > asked) service.end("Hello.", frames(index + 1))
        return (yield* Fiber.join(speech)).length / frameSize
      })
    )
  })
  t.strictSame(lengths, [1, 2, 3, 4, 1, 1], "each has its own, and the usual voice is that which was named")
})

t.test("given two calls that want the same, when one ends, then the other gets it; when both end, the request is aborted", async (t) => {
  const service = new Service()
  const voice = service.voiceFor()
  const { late, length, open } = await speaking(function* (speak) {
    const parts: Array<number> = []
    const first = yield* start(speak("Hello.", undefined, voice))
    yield* until(service.isAsked("Hello."))
    service.give("Hello.", frames(10))
    const second = yield* start(speak("Hello.", undefined, voice, (part) => void parts.push(part.length / frameSize)))
    yield* Fiber.interrupt(first)
    yield* until(() => parts.length === 1)
    service.end("Hello.", frames(5))
    const speech = yield* Fiber.join(second)
    const both = [yield* start(speak("Bye.", undefined, voice)), yield* start(speak("Bye.", undefined, voice))]
    yield* until(service.isAsked("Bye."))
    yield* Fiber.interruptAll(both)
    yield* turned
    return { late: parts, length: speech.length / frameSize, open: service.open.size }
  })
  t.equal(open, 0)
  t.strictSame([late, length], [[10, 5], 15], "one that comes later gets what was there before")
  t.strictSame(service.asked, ["Hello.", "Bye."])
})

t.test("given a voice that tells when words are spoken, then they come with its speech, for all who hear it", async (t) => {
  const service = new Service()
  const voice = service.voiceFor()
  const words = [150, 400].map((untilMillis, at) => ({ word: ["Hello", "there"][at] ?? "", untilMillis }))
  const told: Array<ReadonlyArray<WordMark>> = []
  await speaking(function* (speak) {
    const hearing = () => start(speak("Hello there.", undefined, voice, (_, words) => void told.push(words)))
    const first = yield* hearing()
    yield* until(service.isAsked("Hello there."))
    service.give("Hello there.", ...words.slice(0, 1), frames(10))
    yield* until(() => told.length === 1)
    t.strictSame(told[0], [{ characters: 5, bytes: 1200 }])
    const second = yield* hearing()
    yield* until(() => told.length === 2)
    service.give("Hello there.", ...words.slice(1))
    service.end("Hello there.", frames(10))
    yield* Fiber.joinAll([first, second])
    yield* Fiber.join(yield* hearing())
  })
  const both = [
    { characters: 5, bytes: 1200 },
    { characters: 12, bytes: 3200 }
  ]
  t.strictSame(
    told,
    Array.from({ length: 5 }, () => both),
    "two of the first, two of the second, and one that was cached"
  )
})

t.test("given speech that breaks off, then it is an error, and is made again for the next", async (t) => {
  const service = new Service()
  const voice = service.voiceFor()
  const [error, speech] = await speaking(function* (speak) {
    const first = yield* start(Effect.flip(speak("Hello.", undefined, voice)))
    yield* until(service.isAsked("Hello."))
    service.give("Hello.", frames(20))
    service.breakOff("Hello.")
    const failed = yield* Fiber.join(first)
    const second = yield* start(speak("Hello.", undefined, voice))
    yield* until(service.isAsked("Hello."))
    service.end("Hello.", frames(3))
    return [failed, yield* Fiber.join(second)] as const
  })
  t.match(error, { reason: "Crashed", message: "it broke off" })
  t.equal(speech.length, 3 * frameSize)
})

t.test("given a service that stops in the middle, when what there was would have been heard, then it is an error", async (t) => {
  const service = new Service()
  const error = await speaking(
    function* (speak) {
      const fiber = yield* start(Effect.flip(speak("Hello.", undefined, service.voiceFor())))
      yield* until(service.isAsked("Hello."))
      service.give("Hello.", frames(10))
      return yield* Fiber.join(fiber)
    },
    { ...patient, stallMillis: 20 }
  )
  t.match(error, { reason: "TimedOut", message: "the rest of it did not come in time" })
  t.equal(service.open.size, 0)
})

t.test("given a service that takes two texts at once, then the most urgent of the others is next", async (t) => {
  const service = new Service()
  const ringing: SpeechWanted = { isAnswered: false, neededAt: Number.MAX_SAFE_INTEGER }
  await speaking(function* (speak) {
    const ask = (text: string, wanted?: SpeechWanted) => start(speak(text, wanted, service.voiceFor()))
    const others = [yield* ask("one", ringing), yield* ask("two", ringing), yield* ask("later", ringing)]
    const gone = yield* ask("gone")
    others.push(yield* ask("now"))
    yield* until(() => service.isAsked("one")() && service.isAsked("two")())
    yield* Fiber.interrupt(gone)
    for (const asked of ["one", "now", "two", "later"]) {
      yield* until(service.isAsked(asked))
      service.end(asked, frames(1))
    }
    yield* Fiber.joinAll(others)
  })
  t.strictSame([service.asked, service.mostAtOnce], [["one", "two", "now", "later"], 2])
})

t.test("given speech that sounds different each time, then each call has its own", async (t) => {
  const service = new Service({ isCacheable: false })
  const voice = service.voiceFor()
  await speaking(function* (speak) {
    for (const times of [1, 2]) {
      const fiber = yield* start(speak("Hello.", undefined, voice))
      yield* until(() => service.asked.length === times)
      service.end("Hello.", frames(1))
      yield* Fiber.join(fiber)
    }
  })
  t.strictSame(service.asked, ["Hello.", "Hello."])
})

t.test("given linear samples, when their bytes arrive cut anywhere, then the phone gets the same whole frames", async (t) => {
  const samples = Buffer.alloc(2 * 24_000)
  for (let at = 0; at < 24_000; at++) samples.writeInt16LE(Math.round(9000 * Math.sin((2 * Math.PI * 500 * at) / 24_000)), at * 2)
  const pieces = (size: number) =>
    Array.from({ length: Math.ceil(samples.length / size) }, (_, index) => samples.subarray(index * size, (index + 1) * size))
  const speechOf = (size: number) => {
    const speak = () => Stream.fromIterable(pieces(size))
    const service = new Service({ format: { encoding: "pcm16", rate: 24_000 }, speak })
    return speaking(function* (spoken) {
      return yield* spoken("Hello.", undefined, service.voiceFor())
    })
  }
  const [whole, odd, tiny] = [await speechOf(samples.length), await speechOf(997), await speechOf(1)]
  t.equal(whole.length % frameSize, 0)
  t.ok(Math.abs(whole.length - 8000) <= frameSize, "as long as it was")
  t.ok(Buffer.compare(odd, whole) === 0 && Buffer.compare(tiny, whole) === 0)
})

t.test("given a voice that cannot be used as configured, then it says why, without its key", async (t) => {
  const service = new Service({ speak: () => Stream.fail(new ModelError({ reason: "auth", isRetryable: false, message: "no such key" })) })
  const errors = await speaking(function* (speak) {
    return yield* Effect.forEach([service.voiceFor(), service.voiceFor({ api_key: "" })], (voice) =>
      Effect.flip(speak("Hello.", undefined, voice))
    )
  })
  t.match(errors, [
    { reason: "Refused", message: "no such key" },
    { reason: "Refused", message: "api_key is missing or not what it must be" }
  ])
})

const greeting = "Good morning dear Ada. It is late."
const [morning, late] = ["Good morning dear Ada.", "It is late."]

t.test("given a greeting that a service speaks, then what is ready is heard at once, in order", async (t) => {
  const service = new Service({ model: "grand-2" })
  const greeted = { record: false, detectMachine: false, voice: service.voiceFor() }
  const { events, kept, line } = await attached({ opening: { greeting }, plan: greeted, voices: { tts } }, function* ({ line }) {
    yield* until(() => service.isAsked(morning)() && service.isAsked(late)())
    service.end(late, frames(10))
    service.give(morning, frames(10))
    yield* turned
    line.talk(15)
    service.end(morning, frames(10))
    yield* turned
    line.talk(40)
  })
  t.strictSame(stretches(line.sent), [10, -5, 20, -20])
  t.match(kept.transcript, `assistant: ${greeting}`)
  t.strictSame(kept.usage.tts, { "acme#0|||grand-2": `${morning}${late}`.length }, "what was said is counted for the model that is paid")
  t.strictSame(events, [])
})

t.test("given a phone that rings, then the greeting of a voice that always sounds the same is prepared, and no other", async (t) => {
  const prepared = async (isCacheable: boolean) => {
    const service = new Service({ isCacheable })
    await calling(
      loopback(),
      Effect.gen(function* () {
        const preparing = yield* start((yield* VoiceAgent).prepare(planOfCall({ voice: service.voiceFor() }, { greeting: "Hello." })))
        yield* until(() => service.isAsked("Hello.")() || preparing.pollUnsafe() !== undefined)
        yield* Fiber.interrupt(preparing)
      }),
      { tts }
    )
    return service.asked.length
  }
  t.strictSame([await prepared(true), await prepared(false)], [1, 0])
})

t.test("given a line that breaks off in the middle, then what was heard of it is reported as heard, and nothing else", async (t) => {
  const service = new Service()
  const sentence = "Good morning to you and to everybody in your house."
  const plan = planOf(definition({ greeting: sentence }), { max_user_idle_timeout: 600 })
  const { heard, kept, told } = await conversing(
    { plan, script: () => [text("Never mind.")], voice: { voice: service.voiceFor() } },
    function* (scene) {
      yield* scene.until("request", service.isAsked(sentence))
      service.give(sentence, frames(90))
      yield* scene.until("first part", () => loudFrames(scene) >= 50)
      service.breakOff(sentence)
      yield* scene.until("other words", service.isAsked("Never mind."))
      const told = toldTo(scene.requests.at(-1))
      yield* scene.session.finish
      return { heard: loudFrames(scene), told, kept: scene.kept() }
    },
    { tts }
  )
  t.equal(heard, 90, "all that there was")
  t.strictSame(told, ["agent: Good morning to you and"], "half of it")
  const failures = kept.events.filter(({ type }) => type === "rtf-pipeline-error")
  t.match(failures, [{ payload: { processor: "acme", error: "A line could not be spoken: it broke off" } }])
})

t.test("given a voice that fails, then the callee hears the engine's own, and the run says why and who said how much", async (t) => {
  const service = new Service()
  const sentence = "Good morning to you and to everybody in your house."
  const plan = planOf(definition({ greeting: sentence }), { max_user_idle_timeout: 600 })
  const kept = await conversing(
    { plan, script: () => [text("Goodbye.")], voice: { voice: service.voiceFor() } },
    function* (scene) {
      yield* scene.until("request", service.isAsked(sentence))
      service.breakOff(sentence)
      yield* scene.paced(() => loudFrames(scene) > 0)
      yield* scene.session.finish
      return scene.kept()
    },
    { tts }
  )
  const failures = kept.events.filter(({ type }) => type === "rtf-pipeline-error")
  t.match(failures, [{ payload: { processor: "acme", error: "A line was spoken by another voice: it broke off", fatal: false } }])
  t.match(Object.entries(kept.usage.tts), [[/flite/i, sentence.length]])
})
