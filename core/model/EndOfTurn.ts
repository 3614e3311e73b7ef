/**
 * The contract of end-of-turn models: how likely it is that the callee, who has just paused, has finished. What they are asked decides how long the
 * agent waits; see `core/voice/Turn.ts`. The rules of `core/voice/EndOfTurnRules.ts` are the one that is always there.
 */
import type { Effect } from "effect"
import type { ModelError } from "./LanguageModel.ts"

/** What the callee was asked for. */
export type Expectation =
  | { readonly _tag: "Anything" }
  /** A number that is said or spelled digit by digit; both bounds count digits. */
  | { readonly _tag: "Digits"; readonly least: number; readonly most: number }
  /** An e-mail address, a name that is spelled: with long pauses for thought. */
  | { readonly _tag: "Spelling" }

export interface Pause {
  /** What was understood of the turn so far; may be empty. */
  readonly text: string
  /** The text is a complete answer to what was asked, as a grammar or the node's own phrases tell. */
  readonly isAnswer: boolean
  /** The turn's audio up to the pause, at most its last eight seconds: PCM16 at 8 kHz. Valid until the effect has ended. */
  readonly audio: Int16Array
  readonly expects: Expectation
  /** BCP 47. */
  readonly language: string
}

export interface EndOfTurn {
  readonly provider: string
  readonly model: string
  /** From 0 to 1. It is asked 100 ms into a pause; an answer that takes longer than the shortest delay comes too late to be used. */
  readonly probability: (pause: Pause) => Effect.Effect<number, ModelError>
}
