/**
 * The contract of recognizers, hosted and embedded: a call's audio goes in, texts come out. Audio is written as it arrives, 50 times a second for
 * each call, so writing is a plain function that neither waits nor fails.
 */
import type { Effect, Scope } from "effect"
import type { ModelError } from "./LanguageModel.ts"

export interface RecognizerHints {
  /** BCP 47. */
  readonly language: string
  /** Names and terms that are likely to be said. */
  readonly keyterms: ReadonlyArray<string>
  /** The only phrases that are expected now, for recognizers that choose among phrases. Empty if anything may be said. */
  readonly phrases: ReadonlyArray<string>
  /** The same as a JSGF grammar, which can also express numbers and dates. Recognizers that accept a grammar use it instead of the phrases. */
  readonly grammar?: string | undefined
}

/** The text for speech that a recognizer could not match to any of the expected phrases. The agent must still respond to it. */
export const notUnderstood = "(not understood)"

/** Times are in milliseconds of written audio. A session emits its events in order. */
export type RecognizerEvent =
  /** What may have been said since the last final text. Replaces the previous partial text. */
  | { readonly _tag: "Partial"; readonly text: string }
  /**
   * Continues the final texts before it. `isForced`: the answer to `finalize`; each call of `finalize` gets exactly one, in order, and it is
   * empty if nothing new was said. Adapters of services that do not answer must supply it in time. `isAnswer`: one of the expected phrases,
   * said as an answer.
   */
  | {
      readonly _tag: "Final"
      readonly text: string
      readonly fromMillis: number
      readonly untilMillis: number
      readonly isForced: boolean
      readonly isAnswer: boolean
      /** Somebody spoke, but what they said could not be told. The text is empty, and the callee should be asked again. */
      readonly isUnclear?: true
      /**
       * It covers what the final text before it was about as well, and takes its place: a word that was cut off at the shortest of pauses is understood
       * once the rest of it has been said.
       */
      readonly replaces?: true
      /** From 0 to 1. Undefined if the service does not report it. */
      readonly confidence: number | undefined
    }
  /** From recognizers that own turns: the turn is likely to be over, was not over after all, or is over. The text is that of the whole turn. */
  | { readonly _tag: "EndForeseen"; readonly text: string }
  | { readonly _tag: "EndRevoked" }
  | { readonly _tag: "EndDeclared"; readonly text: string }
  /** No more events follow. The call goes on with another session, or without a recognizer. */
  | { readonly _tag: "Failed"; readonly error: ModelError }

export interface RecognizerSession {
  /**
   * Takes 20 ms of PCM16 at 8 kHz, and copies what it keeps. What it has no room for is dropped and counted. `isSpeech` tells whether the
   * callee seems to be speaking, rather than the agent's echo or noise; undefined if that is not known.
   */
  readonly write: (samples: Int16Array, isSpeech?: boolean) => void
  /** Asks for a transcript of everything written so far. */
  readonly finalize: () => void
  /** Sets the hints for audio that is written from now on. */
  readonly hint: (hints: RecognizerHints) => void
  /** What was said so far has been answered, or is no part of a turn: no later final text may replace one that was told before. */
  readonly settle?: () => void
}

export interface SpeechToText {
  readonly provider: string
  readonly model: string
  /** The recognizer decides when turns end, and the local rules only follow it. */
  readonly ownsTurns: boolean
  /**
   * If it owns turns: how long after the callee's last voice it may take to declare the end. Later, the text there is counts as the whole turn.
   * 1,500 ms by default.
   */
  readonly turnEndMillis?: number | undefined
  /**
   * Sessions are opened while the phone rings, and may get their first audio a minute later, or never. False if that costs something: they are then
   * opened once the callee has answered.
   */
  readonly opensEarly?: false
  /** Opens a session within the call's scope. `emit` must not throw, and is never called after the scope is closed. */
  readonly open: (
    hints: RecognizerHints,
    emit: (event: RecognizerEvent) => void
  ) => Effect.Effect<RecognizerSession, ModelError, Scope.Scope>
}
