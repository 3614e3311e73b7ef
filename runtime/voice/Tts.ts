/** Text to speech, for the phone: 8 kHz mu-law in whole frames, ready to be sent. */
import { Context, Effect, Layer, Schema } from "effect"
import type { CampaignId } from "#core/Id.ts"
import { encodeFrames, frameSize, sampleRate } from "./Mulaw.ts"
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
  /** `Unspeakable`: nothing in the text can be said. `Busy`: too many texts wait already. */
  reason: Schema.Literals(["TooLong", "Unspeakable", "Busy", "TimedOut", "Crashed", "Closed"]),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return meanings[this.reason]
  }
}

/** Characters; about five minutes of speech. */
export const maxTextLength = 4000

export class Tts extends Context.Service<
  Tts,
  {
    /** The engine and its voice, as they stand in the usage of a run. */
    readonly engine: string
    readonly voice: string
    /** Shared with all who say the same: not to be written to. By default it is wanted now, by a callee who has answered. */
    readonly speak: (text: string, wanted?: Wanted) => Effect.Effect<Uint8Array, TtsError>
    /** Has what it takes to speak ready by the time these are wanted, unless they are known already. Returns at once; cheap to repeat. */
    readonly warm: (texts: ReadonlyArray<string>) => Effect.Effect<void>
    /** Not all the speech that waits can be made in time, and calls of this campaign are among those who want it. */
    readonly isCrowdedBy: (campaignId: CampaignId) => boolean
  }
>()("runtime/voice/Tts") {
  /** A low tone of a tenth of a second per word, at once and without a worker: for tests that do not listen. */
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
