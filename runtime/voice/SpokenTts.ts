/** Text to speech with the voices that agents choose, and with the engine's own voices by default. */
import { Effect, Layer, Stream } from "effect"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import type { ModelError } from "#core/model/LanguageModel.ts"
import { soundOf, type SpeechWanted } from "#core/model/TextToSpeech.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { FliteVoices } from "./FliteVoices.ts"
import { makeServiceSpeech, type ServiceSpeechOptions } from "./ServiceSpeech.ts"
import { maxTextLength, Tts, TtsError } from "./Tts.ts"

const reasons = {
  auth: "Refused",
  credit: "Refused",
  refused: "Refused",
  rate_limited: "Busy",
  timeout: "TimedOut",
  broken: "Crashed",
  unreachable: "Unreachable"
} as const

const ignored = () => {}

/** For a voice that delivers its speech as a whole, ready for the phone. */
const wholeOf = ({ speech }: ChosenVoice, text: string, wanted: SpeechWanted): Effect.Effect<Uint8Array, ModelError> =>
  Effect.map(Stream.runCollect(soundOf(speech.speak(text, wanted))), (parts) => parts[0] ?? new Uint8Array(0))

interface Options extends ServiceSpeechOptions {
  readonly firstSoundMillis?: number
}

const make = Effect.fnUntraced(function* ({ firstSoundMillis = 1500, ...options }: Options) {
  const flite = yield* FliteVoices
  const services = yield* makeServiceSpeech(options)
  const usual: ChosenVoice = { speech: flite.speaker(flite.usual), key: "" }
  const speak: Tts["Service"]["speak"] = Effect.fnUntraced(function* (text, given, voice = usual, part = ignored) {
    if (text.length > maxTextLength) return yield* new TtsError({ reason: "TooLong" })
    const wanted = given ?? { isAnswered: true, neededAt: yield* SteadyTime.now }
    const made = voice.speech.ownsQueue ? wholeOf(voice, text, wanted) : services.speak(voice, text, wanted, part)
    const speech = yield* Effect.mapError(made, ({ message, reason }) => new TtsError({ reason: reasons[reason], words: message }))
    return speech.length > 0 ? speech : yield* new TtsError({ reason: "Unspeakable" })
  })
  const warm: Tts["Service"]["warm"] = (texts, { speech } = usual) =>
    speech.provider === usual.speech.provider ? flite.warm(texts, speech.voice) : Effect.void
  return Tts.of({
    engine: usual.speech.provider,
    voice: flite.usual,
    firstSoundMillis,
    speak,
    warm,
    isCrowdedBy: flite.isCrowdedBy
  })
})

export const layer = (options: Options = {}): Layer.Layer<Tts, never, FliteVoices> => Layer.effect(Tts, make(options))
