/**
 * The contract of end-of-turn models, which estimate how likely it is that a callee who has just paused has finished. The estimate determines how
 * long the agent waits; see `core/voice/Turn.ts`. The rules in `core/voice/EndOfTurnRules.ts` are the model that is always available.
 */
import type { Effect } from "effect"
import type { ModelError } from "./LanguageModel.ts"

/** The kind of answer that the callee was asked for. */
export type Expectation =
  | { readonly _tag: "Anything" }
  /** A number that is said, or spelled digit by digit; both bounds count digits. */
  | { readonly _tag: "Digits"; readonly least: number; readonly most: number }
  /** An e-mail address or a name that is spelled, with long pauses for thought. */
  | { readonly _tag: "Spelling" }

export interface Pause {
  /** What has been understood of the turn so far; may be empty. */
  readonly text: string
  /** Whether the text is a complete answer to the question, judged by a grammar or by the node's own phrases. */
  readonly isAnswer: boolean
  /** The last eight seconds, at most, of the turn's audio up to the pause: PCM16 at 8 kHz. Valid until the effect has ended. */
  readonly audio: Int16Array
  readonly expects: Expectation
  /** BCP 47. */
  readonly language: string
}

export interface EndOfTurn {
  readonly provider: string
  readonly model: string
  /** From 0 to 1. Asked 100 ms into a pause; an answer that takes longer than the shortest delay is not used. */
  readonly probability: (pause: Pause) => Effect.Effect<number, ModelError>
}
