/**
 * The embedded voice: flite in worker threads, each of which holds some 60 MB while it runs. US English only. Text that is requested twice is
 * synthesized once.
 */
import { Duration, Effect, Layer } from "effect"
import { availableParallelism } from "node:os"
import * as SteadyTime from "#core/SteadyTime.ts"
import { offlineVoice } from "#core/model/VoiceServices.ts"
import type { FliteRequest } from "./fliteWorker.ts"
import type { FliteVoice } from "./FliteWasm.ts"
import type { Wanted } from "./SpeechQueue.ts"
import type { SpeechNotMade } from "./SpeechThread.ts"
import { makeSpeechWorkers } from "./SpeechWorkers.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"

export interface FliteOptions {
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

const meaning = ({ cause, reason }: SpeechNotMade): TtsError =>
  new TtsError({ reason: reason === "Nothing" ? "Unspeakable" : reason, ...(cause === undefined ? {} : { cause }) })

const make = Effect.fnUntraced(function* (options: FliteOptions) {
  const usual = options.voice ?? offlineVoice.voice
  const workers = yield* makeSpeechWorkers<FliteRequest>({
    name: "flite",
    workers: options.workers ?? defaultWorkers,
    program: options.worker ?? new URL("./fliteWorker.ts", import.meta.url),
    cacheBytes: options.cacheBytes ?? defaultCacheBytes,
    idle: options.idle ?? defaultIdle,
    timeout: speakTimeout
  })
  const scope = yield* Effect.scope
  const keyOf = (voice: FliteVoice, text: string) => `${voice} ${text}`
  const speechOf = (voice: FliteVoice, text: string, wanted?: Wanted) =>
    workers.speech(keyOf(voice, text), Effect.succeed({ voice, text }), wanted)
  const speak = Effect.fnUntraced(function* (text: string, wanted?: Wanted, voice: FliteVoice = usual) {
    if (text.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    return yield* Effect.mapError(speechOf(voice, text, wanted), meaning)
  })
  const warmUp = Effect.gen(function* () {
    yield* speechOf(usual, warmUpText, { isAnswered: false, neededAt: yield* SteadyTime.now })
  })
  const warm = (texts: ReadonlyArray<string>, voice: FliteVoice = usual) =>
    workers.isRunning() || texts.every((text) => workers.isKept(keyOf(voice, text)))
      ? Effect.void
      : Effect.asVoid(Effect.forkIn(Effect.ignore(warmUp), scope, { startImmediately: true }))
  return Tts.of({ engine: offlineVoice.engine, voice: usual, speak, warm, isCrowdedBy: workers.isCrowdedBy })
})

export const layer = (options: FliteOptions = {}): Layer.Layer<Tts> => Layer.effect(Tts, make(options))
