/**
 * The embedded voice: flite in a worker thread, which holds some 60 MB while it is there. US English only. Texts are spoken one after
 * another; the same text asked for twice is spoken once, and sooner.
 */
import { Duration, Effect, Layer } from "effect"
import { offlineVoice } from "#core/voice/VoiceServices.ts"
import type { FliteRequest } from "./fliteWorker.ts"
import type { FliteVoice } from "./FliteWasm.ts"
import { makeSpeechWorker, type SpeechNotMade } from "./SpeechWorker.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"

export interface FliteOptions {
  readonly voice?: FliteVoice
  readonly idle?: Duration.Input
  readonly cacheBytes?: number
  /** The program of the worker. */
  readonly worker?: URL
}

const defaultIdle = Duration.seconds(20)
// A greeting of six seconds is 48 KB.
const defaultCacheBytes = 16 * 1024 * 1024
// The longest text takes about 4 s on a busy machine.
const speakTimeout = Duration.seconds(15)

const meaning = ({ cause, reason }: SpeechNotMade): TtsError =>
  new TtsError({ reason: reason === "Nothing" ? "Unspeakable" : reason, ...(cause === undefined ? {} : { cause }) })

const make = Effect.fnUntraced(function* (options: FliteOptions) {
  const voice = options.voice ?? offlineVoice.voice
  const worker = yield* makeSpeechWorker<FliteRequest>({
    name: "flite",
    program: options.worker ?? new URL("./fliteWorker.ts", import.meta.url),
    cacheBytes: options.cacheBytes ?? defaultCacheBytes,
    idle: options.idle ?? defaultIdle,
    timeout: speakTimeout
  })
  const speak = Effect.fnUntraced(function* (text: string) {
    if (text.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    return yield* Effect.mapError(worker.speech(text, Effect.succeed({ voice, text })), meaning)
  })
  return Tts.of({ engine: offlineVoice.engine, voice, speak })
})

export const layer = (options: FliteOptions = {}): Layer.Layer<Tts> => Layer.effect(Tts, make(options))
