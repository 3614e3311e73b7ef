/**
 * The contract of voices, hosted and embedded: a text in, its speech out, piece by piece as it is made. The engine asks for a sentence at a time,
 * keeps what it has been given, and plays the first piece while the others are being made.
 */
import type { Stream } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { ModelError } from "./LanguageModel.ts"

/** Samples per second that the engine can bring down to the phone's 8000. */
export const speechRates = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const

/** One channel. `pcm16`: little-endian. `mulaw`: 8000 samples per second, ready for the phone. */
export type SpeechFormat =
  | { readonly encoding: "pcm16"; readonly rate: (typeof speechRates)[number] }
  | { readonly encoding: "mulaw"; readonly rate: 8000 }

/** One call's wish to have a text spoken. */
export interface SpeechWanted {
  readonly isAnswered: boolean
  /** When it should be heard, as far as that is known. */
  readonly neededAt: SteadyMillis
  readonly campaignId?: CampaignId | undefined
}

export interface TextToSpeech {
  /** `provider` and `voice` in the usage of a run, which counts the characters of the texts. */
  readonly provider: string
  readonly voice: string
  readonly format: SpeechFormat
  /** With these settings, the same text always sounds the same, and may be kept. False: it is made again for each call, and not before the answer. */
  readonly isCacheable: boolean
  /**
   * It orders by `wanted` what it is asked for, and keeps what it has made: the engine asks at once, and keeps nothing. Others are asked for as many
   * texts at a time as `atOnce` says, the most urgent first.
   */
  readonly ownsQueue: boolean
  readonly atOnce: number
  /**
   * Bytes of the format, cut anywhere, in arrays that do not change any more. Ends once the whole text has been given, and fails if it cannot be: half
   * a sentence must not pass for a whole one. Gives nothing if nothing in the text can be said. Interrupting the stream ends the request at the service.
   */
  readonly speak: (text: string, wanted: SpeechWanted) => Stream.Stream<Uint8Array, ModelError>
}
