/** The request for a redial, and the reasons to refuse it. */
import { Schema } from "effect"
import type { RetryConfig, RetryReason } from "./RetryPolicy.ts"

/** The campaign was already redialed, or there is nobody to call again: no contact matches, or all that do have opted out. */
export class RedialRefused extends Schema.TaggedError<RedialRefused>()("RedialRefused", {
  reason: Schema.Literals(["already_redialed", "nobody_matches", "all_opted_out"])
}) {}

export type RedialReason = Exclude<RetryReason, "trunk_lost"> | "unknown"

export interface NewRedial {
  /** Undefined: the campaign's own name, marked as a redial. */
  readonly name: string | undefined
  /** Outcomes of the last call whose contacts are called again. `unknown` is here only if a person asked for it. */
  readonly reasons: ReadonlyArray<RedialReason>
  /** Undefined: the campaign's own settings. */
  readonly retry: RetryConfig | undefined
}
