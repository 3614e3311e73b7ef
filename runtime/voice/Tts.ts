/** Text to speech for the phone: 8 kHz mu-law in whole frames, ready to be sent. */
import { Context, Effect, Layer, Schema } from "effect"
import type { CampaignId } from "#core/Id.ts"
import { encodeFrames, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { FliteVoice } from "#core/model/VoiceServices.ts"
import type { Wanted } from "./SpeechQueue.ts"

const meanings = {
  TooLong: "the text is too long",
  Unspeakable: "nothing in the text can be said",
  Busy: "too much speech is waiting to be made",
  TimedOut: "it took too long to make",
  Crashed: "the worker that makes speech has crashed",
  Closed: "the engine is stopping"
} as const

export class TtsError extends Schema.TaggedError<TtsError>()("TtsError", {
  /** `Unspeakable`: nothing in the text can be said. `Busy`: too many texts are already waiting. */
  reason: Schema.Literals(["TooLong", "Unspeakable", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

/** Maximum characters of a text: about five minutes of speech. */
export const maxTextLength = 4000

export class Tts extends Context.Service<
  Tts,
  {
    /** Names of the engine and its usual voice in the usage of a run. */
    readonly engine: string
    readonly voice: string
    /**
     * The result is shared with other calls and must not be written to. By default it is wanted now, for an answered call, and spoken by the usual
     * voice.
     */
    readonly speak: (text: string, wanted?: Wanted, voice?: FliteVoice) => Effect.Effect<Uint8Array, TtsError>
    /** Gets a worker ready for these texts, unless all of them are cached. Returns at once and is cheap to repeat. */
    readonly warm: (texts: ReadonlyArray<string>, voice?: FliteVoice) => Effect.Effect<void>
    /** Some of the speech that is waiting cannot be made in time, and some of it is for calls of this campaign. */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  }
>()("runtime/voice/Tts") {
  /** For tests that do not listen: a low tone of a tenth of a second per word, at once and without a worker. */
  static readonly layerSilent: Layer.Layer<Tts> = Layer.sync(Tts, () =>
    Tts.of({
      engine: "tone",
      voice: "none",
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
