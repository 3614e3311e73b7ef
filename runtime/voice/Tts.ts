/** Text to speech, for the phone: 8 kHz mu-law in whole frames, ready to be sent. */
import { Context, Effect, Layer, Schema } from "effect"
import { encodeFrames, frameSize, sampleRate } from "./Mulaw.ts"

export class TtsError extends Schema.TaggedError<TtsError>()("TtsError", {
  /** `Unspeakable`: nothing in the text can be said. `Busy`: too many texts wait already. */
  reason: Schema.Literals(["TooLong", "Unspeakable", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** Characters; about five minutes of speech. */
export const maxTextLength = 4000

export class Tts extends Context.Service<
  Tts,
  {
    /** The engine and its voice, as they stand in the usage of a run. */
    readonly engine: string
    readonly voice: string
    /** Shared with all who say the same: not to be written to. */
    readonly speak: (text: string) => Effect.Effect<Uint8Array, TtsError>
  }
>()("runtime/voice/Tts") {
  /** A low tone of a tenth of a second per word, at once and without a worker: for tests that do not listen. */
  static readonly layerSilent: Layer.Layer<Tts> = Layer.sync(Tts, () =>
    Tts.of({
      engine: "tone",
      voice: "none",
      speak: (text) => {
        const words = text.split(/\s+/).filter((word) => word !== "").length
        return words === 0 ? Effect.fail(new TtsError({ reason: "Unspeakable" })) : Effect.succeed(hum(words * 5))
      }
    })
  )
}

const hum = (frames: number): Uint8Array =>
  encodeFrames(Int16Array.from({ length: frames * frameSize }, (_, index) => 2000 * Math.sin((2 * Math.PI * 250 * index) / sampleRate)))
