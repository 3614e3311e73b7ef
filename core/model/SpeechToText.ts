/**
 * The contract of recognizers, hosted and embedded: a call's audio in, texts out. Audio is written where it arrives, 50 times a second and call, so
 * writing is a plain function that neither waits nor fails.
 */
import type { Effect, Scope } from "effect"
import type { ModelError } from "./LanguageModel.ts"

export interface RecognizerHints {
  /** BCP 47. */
  readonly language: string
  /** Names and terms that are likely. */
  readonly keyterms: ReadonlyArray<string>
  /** All that is expected now, for recognizers that choose among phrases; empty where anything may be said. */
  readonly phrases: ReadonlyArray<string>
  /** The same as a JSGF grammar, which can also hold numbers and dates; in place of the phrases, for recognizers that take one. */
  readonly grammar?: string | undefined
}

/** The text for speech of which a recognizer can only tell that it is none of the expected phrases. It still has to be answered. */
export const notUnderstood = "(not understood)"

/** Times are milliseconds of the audio that was written. A session keeps their order. */
export type RecognizerEvent =
  /** What may have been said since the last final text; replaces the one before. */
  | { readonly _tag: "Partial"; readonly text: string }
  /**
   * Follows the final texts before it. `isForced`: the answer to `finalize`, of which each has exactly one, in order; it is empty when nothing new was
   * said. Adapters of services that do not answer make it up in time. `isAnswer`: one of the phrases, and meant.
   */
  | {
      readonly _tag: "Final"
      readonly text: string
      readonly fromMillis: number
      readonly untilMillis: number
      readonly isForced: boolean
      readonly isAnswer: boolean
      /** Somebody has spoken, and it could not be told what they said: the text is empty, and the callee is to be asked again. */
      readonly isUnclear?: true
      /** From 0 to 1; undefined where the service does not tell. */
      readonly confidence: number | undefined
    }
  /** Of recognizers that own turns: the turn is likely to be over, was not over, is over. The text is that of the whole turn. */
  | { readonly _tag: "EndForeseen"; readonly text: string }
  | { readonly _tag: "EndRevoked" }
  | { readonly _tag: "EndDeclared"; readonly text: string }
  /** Nothing more comes. The call goes on, with another session or without hearing. */
  | { readonly _tag: "Failed"; readonly error: ModelError }

export interface RecognizerSession {
  /** Takes 20 ms, PCM16 at 8 kHz, and copies what it keeps. What it has no room for is dropped and counted. */
  readonly write: (samples: Int16Array) => void
  /** What was written so far is to be transcribed now. */
  readonly finalize: () => void
  /** For what is written from now on. */
  readonly hint: (hints: RecognizerHints) => void
}

export interface SpeechToText {
  readonly provider: string
  readonly model: string
  /** It declares when turns end, and local rules only watch it. */
  readonly ownsTurns: boolean
  /** Opens a session within the call's scope. `emit` must not throw, and is not called any more once the scope is closed. */
  readonly open: (
    hints: RecognizerHints,
    emit: (event: RecognizerEvent) => void
  ) => Effect.Effect<RecognizerSession, ModelError, Scope.Scope>
}
