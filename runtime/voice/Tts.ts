/** Text to speech for the phone: 8 kHz mu-law in whole frames, ready to be sent. */
import { Context, Effect, Layer, Schema } from "effect"
import type { CampaignId } from "#core/Id.ts"
import { encodeFrames, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { ChosenVoice } from "#core/model/ChosenVoice.ts"
import type { SpeechWanted } from "#core/model/TextToSpeech.ts"
import type { WordMark } from "#core/voice/WordMarks.ts"

const meanings = {
  TooLong: "the text is too long",
  Unspeakable: "nothing in the text can be said",
  Busy: "too much speech is waiting to be made",
  TimedOut: "it took too long to make",
  Crashed: "the worker that makes speech has crashed",
  Unreachable: "what makes the speech is not to be reached",
  Refused: "the voice cannot be used as it is configured"
} as const

export class TtsError extends Schema.TaggedError<TtsError>()("TtsError", {
  /** `Unspeakable`: nothing in the text can be said. `Busy`: too many texts are already waiting. */
  reason: Schema.Literals(["TooLong", "Unspeakable", "Busy", "TimedOut", "Crashed", "Unreachable", "Refused"]),
  /** The service's own words. */
  words: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return this.words ?? meanings[this.reason]
  }
}

/** Takes the next part of a speech. `words` are those of the whole speech whose ends are known by now; later parts may add to them. */
export type TakePart = (speech: Uint8Array, words: ReadonlyArray<WordMark>) => void

/** Maximum characters of a text: about five minutes of speech. */
export const maxTextLength = 4000

export class Tts extends Context.Service<
  Tts,
  {
    /** Names of the engine and its default voice in the usage of a run. */
    readonly engine: string
    readonly voice: string
    /** How long a callee who hears nothing else waits for the first sound of another voice, before the default one speaks instead. */
    readonly firstSoundMillis: number
    /**
     * The result is shared with other calls and must not be written to. By default it is wanted now, for an answered call, and spoken by the
     * default voice. If the voice delivers its speech bit by bit, `part` gets each part as it arrives, in whole frames; together they form the
     * result.
     */
    readonly speak: (text: string, wanted?: SpeechWanted, voice?: ChosenVoice, part?: TakePart) => Effect.Effect<Uint8Array, TtsError>
    /** Gets a worker ready for these texts, unless all of them are cached. Returns at once and is cheap to repeat. */
    readonly warm: (texts: ReadonlyArray<string>, voice?: ChosenVoice) => Effect.Effect<void>
    /** Whether some of the waiting speech cannot be made in time and some of it is for calls of this campaign. */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  }
>()("runtime/voice/Tts") {
  /** For tests that do not listen: a low tone of a tenth of a second per word, immediately and without a worker. */
  static readonly layerSilent: Layer.Layer<Tts> = Layer.sync(Tts, () =>
    Tts.of({
      engine: "tone",
      voice: "none",
      firstSoundMillis: Number.POSITIVE_INFINITY,
      warm: () => Effect.void,
      isCrowdedBy: () => false,
      speak: (text) => {
        const words = text.split(/\s+/).filter((word) => word !== "").length
        return words === 0 ? Effect.fail(new TtsError({ reason: "Unspeakable" })) : Effect.succeed(hum(words * 5))
      }
    })
  )
}

const hum = (frames: number): Uint8Array =>
  encodeFrames(Int16Array.from({ length: frames * frameSize }, (_, index) => 2000 * Math.sin((2 * Math.PI * 250 * index) / sampleRate)))
