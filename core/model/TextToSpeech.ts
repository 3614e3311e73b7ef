/**
 * The contract of voices, hosted and embedded: a text goes in, its speech comes out, piece by piece as it is made. The engine requests one
 * sentence at a time, without markup (`core/voice/PlainSpeech.ts`), caches the speech, and plays the first piece while the others are still being
 * made. How figures are said is the voice's affair.
 */
import { type Effect, Stream } from "effect"
import type { CampaignId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import type { ModelError } from "./LanguageModel.ts"

/** The sample rates that the engine can convert to the 8000 per second of telephony. */
export const speechRates = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000] as const

/** One channel. `pcm16`: little-endian. `mulaw`: 8000 samples per second, ready to be sent. */
export type SpeechFormat =
  | { readonly encoding: "pcm16"; readonly rate: (typeof speechRates)[number] }
  | { readonly encoding: "mulaw"; readonly rate: 8000 }

/** One call's request to have a text spoken. */
export interface SpeechWanted {
  readonly isAnswered: boolean
  /** When it should be heard, as far as that is known. */
  readonly neededAt: SteadyMillis
  readonly campaignId?: CampaignId | undefined
}

/** Tells when a word of the text has been spoken. */
export interface SpokenWord {
  /** As it is in the text, with its punctuation or without. */
  readonly word: string
  /** From the start of the text's speech to the end of the word. */
  readonly untilMillis: number
}

export type SpeechPart = Uint8Array | SpokenWord

/** The bytes alone. */
export const soundOf = <E>(speech: Stream.Stream<SpeechPart, E>): Stream.Stream<Uint8Array, E> =>
  Stream.filter(speech, (part) => part instanceof Uint8Array)

export interface TextToSpeech {
  /** As in the usage of a run, which counts the characters of the texts. */
  readonly provider: string
  readonly voice: string
  /** What is paid for. In the usage of a run, it stands for the voice. Undefined: each voice is a model of its own. */
  readonly model?: string
  readonly format: SpeechFormat
  /**
   * Whether the same text always sounds the same with these settings, so that its speech can be cached. If false, it is made again for each call,
   * and not before the call is answered.
   */
  readonly isCacheable: boolean
  /**
   * Whether the voice orders requests by `wanted` and caches its speech itself: the engine then sends all requests at once and caches nothing.
   * Other voices get at most `atOnce` texts at a time, the most urgent first.
   */
  readonly ownsQueue: boolean
  readonly atOnce: number
  /**
   * Connects to the service, without a request, so that the first sentence does not wait for that. Used once the callee has answered an agent that
   * can hear them.
   */
  readonly warm?: Effect.Effect<void>
  /**
   * Bytes in the format, cut anywhere, in arrays that never change afterwards. The stream ends when the whole text has been spoken, and fails
   * if it cannot be, so that half a sentence is never taken for a whole one. It is empty if nothing in the text can be spoken. Interrupting
   * the stream ends the request at the service.
   *
   * A voice that knows when each word is spoken also tells the words, in the order of the text and if possible before their bytes. What callees have
   * heard of a sentence that they interrupt is then known; otherwise it is estimated, also from the first word that is not the next one of the text
   * or does not end later than the one before it. Words of voices with `ownsQueue` are ignored.
   */
  readonly speak: (text: string, wanted: SpeechWanted) => Stream.Stream<SpeechPart, ModelError>
}
