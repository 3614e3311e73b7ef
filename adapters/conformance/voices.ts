/**
 * What every voice must do, as named cases that any test runner can run. They check the speech that it returns and the requests that its service has received.
 */
import { Effect, Fiber, Result, Stream } from "effect"
import type { Egress } from "#core/egress/Egress.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { type SpeechWanted, type SpokenWord, speechRates, type TextToSpeech } from "#core/model/TextToSpeech.ts"
import type { TextToSpeechProvider } from "#core/model/TextToSpeechProvider.ts"
import { sampleRate } from "#core/audio/Mulaw.ts"
import { WordMarks } from "#core/voice/WordMarks.ts"
import { type Case, verdictOf } from "./Case.ts"
import { demand, inWords, NotAsked } from "./Nonconformity.ts"
import { serviceRules } from "./serviceRules.ts"

type Config = Readonly<Record<string, unknown>>

/** The service that a voice calls. It runs on this machine. */
export interface VoiceWorld {
  readonly config: Config
  readonly egress: Egress
  /**
   * Makes the service fail at the next text: it sends part of the speech and then nothing more (`hangs`), or part of it and an error (`breaks`).
   * Left out for voices without a service.
   */
  readonly script?: (ending: "hangs" | "breaks") => void
  /** The configuration with a key that the service refuses. */
  readonly wrongConfig?: Config
  /** Resolves when the service has seen that a request was abandoned. */
  readonly givenUp?: () => Promise<unknown>
  readonly close: () => Promise<void>
}

interface Scene {
  readonly provider: TextToSpeechProvider
  readonly world: VoiceWorld
}
interface Spoken {
  readonly bytes: Uint8Array
  readonly words: ReadonlyArray<SpokenWord>
  readonly error: ModelError | undefined
}

const short = "Good morning."
const long = "Good morning, we call about your appointment on Friday at ten, and we would like to know whether you can come."
const ROUNDING_SECONDS = 0.1
const now: SpeechWanted = { isAnswered: true, neededAt: 0 }

const voiceIn = ({ provider, world }: Scene, config = world.config): TextToSpeech => provider.speaker(config, { egress: world.egress })

const spokenBy = (voice: TextToSpeech, text: string): Effect.Effect<Spoken> =>
  Effect.suspend(() => {
    const parts: Array<Uint8Array> = []
    const words: Array<SpokenWord> = []
    return voice.speak(text, now).pipe(
      Stream.runForEach((part) => Effect.sync(() => void (part instanceof Uint8Array ? parts.push(part) : words.push(part)))),
      Effect.result,
      Effect.map((result) => ({ bytes: Buffer.concat(parts), words, error: Result.isFailure(result) ? result.failure : undefined }))
    )
  })

const speak = (scene: Scene, text: string, config?: Config): Promise<Spoken> => Effect.runPromise(spokenBy(voiceIn(scene, config), text))

const secondsOf = ({ format: { encoding, rate } }: TextToSpeech, { bytes }: Spoken): number =>
  bytes.length / rate / (encoding === "mulaw" ? 1 : 2)

/** Whether the duration lies between that of the fastest and the slowest speech. */
const isPlausible = (text: string, seconds: number): boolean => seconds >= text.length * 0.02 && seconds <= 2 + text.length * 0.3

const isWhole = (voice: TextToSpeech, text: string, spoken: Spoken): void => {
  demand(spoken.error === undefined, "speech", () => inWords(spoken.error), "the call would continue in silence")
  const seconds = secondsOf(voice, spoken)
  demand(
    isPlausible(text, seconds),
    `speech of a length that suits ${text.length} characters, in the format that it names`,
    () => `${seconds.toFixed(2)} seconds of ${inWords(voice.format)}`,
    "in another format the callee hears noise"
  )
  demand(
    voice.format.encoding === "mulaw" || spoken.bytes.length % 2 === 0,
    "whole samples",
    () => `${spoken.bytes.length} bytes`,
    "half a sample is lost speech"
  )
}

/** One thing that every voice must do. */
interface Rule {
  readonly name: string
  readonly holds: (scene: Scene) => Promise<void>
}

const rules: ReadonlyArray<Rule> = [
  {
    name: "format: the engine can convert it for the phone",
    holds: async (scene) => {
      const { atOnce, format } = voiceIn(scene)
      const rates: ReadonlyArray<number> = format.encoding === "mulaw" ? [8000] : speechRates
      demand(rates.includes(format.rate), `a rate of ${rates.join(", ")}`, () => inWords(format), "it could not be heard")
      demand(atOnce >= 1, "at least one text at once", () => inWords(atOnce), "it would never get a text")
    }
  },
  {
    name: "speech: it has the length that the text needs",
    holds: async (scene) => {
      const voice = voiceIn(scene)
      const [less, more] = [await speak(scene, short), await speak(scene, long)]
      isWhole(voice, short, less)
      isWhole(voice, long, more)
      demand(
        more.bytes.length > less.bytes.length,
        "more speech for a longer text",
        () => `${more.bytes.length} bytes, and ${less.bytes.length} for a shorter one`,
        "a text must be spoken to its end"
      )
    }
  },
  {
    name: "speech: two texts at once do not get mixed up",
    holds: async (scene) => {
      const voice = voiceIn(scene)
      const both = Effect.all([spokenBy(voice, short), spokenBy(voice, long)], { concurrency: "unbounded" })
      const [less, more] = await Effect.runPromise(both)
      isWhole(voice, short, less)
      isWhole(voice, long, more)
    }
  },
  {
    name: "speech: a text always sounds the same if its speech may be cached",
    holds: async (scene) => {
      if (!voiceIn(scene).isCacheable) throw new NotAsked("its speech may not be cached")
      const [first, second] = [await speak(scene, short), await speak(scene, short)]
      demand(
        Buffer.compare(first.bytes, second.bytes) === 0,
        "the same speech of the same text",
        () => `${first.bytes.length} bytes, and then ${second.bytes.length} others`,
        "calls get speech that was made for another call"
      )
    }
  },
  {
    name: "words: their times are those of the speech",
    holds: async (scene) => {
      const spoken = await speak(scene, long)
      if (spoken.words.length === 0) throw new NotAsked("the voice does not tell when words are spoken")
      const known = new WordMarks(long)
      for (const word of spoken.words) known.push(word)
      const { bytes, characters } = known.marks.at(-1) ?? { bytes: 0, characters: 0 }
      demand(
        characters === long.length && bytes / sampleRate <= secondsOf(voiceIn(scene), spoken) + ROUNDING_SECONDS,
        "every word of the text, in order, each later than the one before it, and the last one before the end of the speech",
        () => inWords(spoken.words),
        "what a callee who interrupts has heard would be wrong"
      )
    }
  },
  {
    name: "parts: the first one arrives before the rest exists",
    holds: async (scene) => {
      const { script } = scene.world
      if (script === undefined) throw new NotAsked("the voice has no service")
      script("hangs")
      await Effect.runPromise(Stream.runDrain(Stream.take(voiceIn(scene).speak(long, now), 1)))
    }
  },
  {
    name: "error: speech that breaks off ends with an error",
    holds: async (scene) => {
      const { script } = scene.world
      if (script === undefined) throw new NotAsked("the voice has no service")
      script("breaks")
      const { error } = await speak(scene, long)
      demand(error !== undefined, "an error", () => "the end of the speech", "half a sentence would be cached, and said to others as well")
    }
  },
  ...serviceRules<Scene>("voice", short, (scene, config) => speak(scene, short, config)),
  {
    name: "interruption: it ends the work at the service",
    holds: async (scene) => {
      const { givenUp, script } = scene.world
      if (givenUp === undefined || script === undefined) throw new NotAsked("the voice has no service")
      script("hangs")
      const first = Promise.withResolvers<void>()
      const interrupted = Effect.gen(function* () {
        const speaking = Stream.runForEach(voiceIn(scene).speak(long, now), () => Effect.sync(() => first.resolve()))
        const fiber = yield* Effect.forkChild(Effect.ignore(speaking))
        yield* Effect.promise(() => first.promise)
        yield* Fiber.interrupt(fiber)
        yield* Effect.promise(givenUp)
      })
      await Effect.runPromise(interrupted)
    }
  }
]

export const voiceConformance = (provider: TextToSpeechProvider, openWorld: () => Promise<VoiceWorld>): ReadonlyArray<Case> =>
  rules.map(({ holds, name }) => ({
    name,
    run: async () => {
      const world = await openWorld()
      return verdictOf(
        () => holds({ provider, world }),
        () => world.close()
      )
    }
  }))
