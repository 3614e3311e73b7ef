/** What a redial is asked for, and why it may be refused. */
import { Schema } from "effect"
import type { RetryConfig, RetryReason } from "./RetryPolicy.ts"

/** The campaign has been redialed, or nobody in it matches. */
export class RedialRefused extends Schema.TaggedError<RedialRefused>()("RedialRefused", {
  reason: Schema.Literals(["already_redialed", "nobody_matches"])
}) {}

export type RedialReason = Exclude<RetryReason, "trunk_lost"> | "unknown"

export interface NewRedial {
  /** Undefined: the campaign's own, marked as a redial. */
  readonly name: string | undefined
  /** What the last call of a contact came to. Never by itself `unknown`: whether such a contact is called again, a person decides. */
  readonly reasons: ReadonlyArray<RedialReason>
  /** Undefined: as in the campaign. */
  readonly retry: RetryConfig | undefined
}
