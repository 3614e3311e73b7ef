/**
 * The embedded voices: flite in worker threads, each of which holds some 60 MB while it runs. US English only. Text that is requested twice is
 * synthesized once.
 */
import { Context, Duration, Effect, Layer, type Scope, Stream } from "effect"
import { availableParallelism } from "node:os"
import * as SteadyTime from "#core/SteadyTime.ts"
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { CampaignId } from "#core/Id.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { SpeechWanted, TextToSpeech } from "#core/model/TextToSpeech.ts"
import { type FliteVoice, fliteVoices } from "./FliteWasm.ts"
import type { FliteRequest } from "./fliteWorker.ts"
import type { SpeechNotMade } from "./SpeechThread.ts"
import { makeSpeechWorkers } from "./SpeechWorkers.ts"

export interface FliteOptions {
  /** The voice for agents that choose none. */
  readonly voice?: FliteVoice
  readonly idle?: Duration.Input
  readonly cacheBytes?: number
  readonly workers?: number
  /** The program that the workers run. */
  readonly worker?: URL
}

const defaultIdle = Duration.seconds(20)
// A greeting of six seconds is 48 KB.
const defaultCacheBytes = 16 * 1024 * 1024
// The longest text takes about 4 s on a busy machine.
const speakTimeout = Duration.seconds(15)

// One core stays free for the calls themselves; the upper limit saves memory.
const defaultWorkers = Math.max(1, Math.min(4, availableParallelism() - 1))
// Any word will do: a worker's first synthesis takes the longest.
const warmUpText = "Hello."

const meanings = { Busy: "rate_limited", TimedOut: "timeout", Crashed: "broken", Closed: "unreachable" } as const

export class FliteVoices extends Context.Service<
  FliteVoices,
  {
    readonly all: ReadonlyArray<FliteVoice>
    readonly usual: FliteVoice
    readonly speaker: (voice: FliteVoice) => TextToSpeech
    /** Gets a worker ready for these texts, unless all of them are cached. Returns at once and is cheap to repeat. */
    readonly warm: (texts: ReadonlyArray<string>, voice: string) => Effect.Effect<void>
    /** Whether some of the waiting speech cannot be made in time and some of it is for calls of this campaign. */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  }
>()("runtime/voice/FliteVoices") {
  static readonly layer = (options: FliteOptions = {}): Layer.Layer<FliteVoices> => Layer.effect(FliteVoices, make(options))
}

const make = Effect.fnUntraced(function* (options: FliteOptions): Effect.fn.Return<FliteVoices["Service"], never, Scope.Scope> {
  const usual = options.voice ?? "slt"
  const workers = yield* makeSpeechWorkers<FliteRequest>({
    name: "flite",
    workers: options.workers ?? defaultWorkers,
    program: options.worker ?? new URL("./fliteWorker.ts", import.meta.url),
    cacheBytes: options.cacheBytes ?? defaultCacheBytes,
    idle: options.idle ?? defaultIdle,
    timeout: speakTimeout
  })
  const scope = yield* Effect.scope
  const keyOf = (voice: string, text: string) => `${voice} ${text}`
  const speechOf = (voice: FliteVoice, text: string, wanted: SpeechWanted) =>
    workers.speech(keyOf(voice, text), Effect.succeed({ voice, text }), wanted)
  const speaker = (voice: FliteVoice): TextToSpeech => ({
    provider: "flite",
    voice,
    format: { encoding: "mulaw", rate: sampleRate },
    isCacheable: true,
    ownsQueue: true,
    atOnce: Number.POSITIVE_INFINITY,
    speak: (text, wanted) =>
      Stream.unwrap(
        Effect.match(speechOf(voice, text, wanted), {
          onSuccess: (speech) => Stream.succeed(speech),
          onFailure: (why) => (why.reason === "Nothing" ? Stream.empty : Stream.fromEffect(told(why)))
        })
      )
  })
  const warmUp = Effect.gen(function* () {
    yield* speechOf(usual, warmUpText, { isAnswered: false, neededAt: yield* SteadyTime.now })
  })
  const warm = (texts: ReadonlyArray<string>, voice: string) =>
    workers.isRunning() || texts.every((text) => workers.isKept(keyOf(voice, text)))
      ? Effect.void
      : Effect.asVoid(Effect.forkIn(Effect.ignore(warmUp), scope, { startImmediately: true }))
  return { all: fliteVoices, usual, speaker, warm, isCrowdedBy: workers.isCrowdedBy }
})

/** The cause of a worker's failure appears only in the log. */
const told = Effect.fnUntraced(function* (why: SpeechNotMade): Effect.fn.Return<never, ModelError> {
  if (why.cause !== undefined) yield* Effect.logWarning("speech not made", why)
  const reason = why.reason === "Nothing" ? "broken" : meanings[why.reason]
  return yield* new ModelError({ reason, isRetryable: why.reason !== "Closed", message: why.message })
})
