/**
 * Tells whether a database still has everything that was written to it. A copy may lack days: a backup that was restored, or a
 * snapshot. A standby that takes over may lack the last moments. The engine writes down where it dials, and compares that with where it finds itself.
 */
import { Schema } from "effect"

export const Lineage = Schema.Struct({
  /** The cluster's own id, drawn by initdb. */
  system: Schema.String,
  /** OIDs of the database and of the lock's table. A dump that is restored has new ones. */
  database: Schema.String,
  table: Schema.String,
  /** A promoted standby begins another one, and so does a backup that is recovered up to some moment. */
  timeline: Schema.String
})
export type Lineage = typeof Lineage.Type

/**
 * - `same`: everything is there, as far as can be known.
 * - `failed_over`: the same database on another timeline. What was written last may be missing.
 * - `copied`: another database. How much is missing cannot be told.
 */
export type Descent = "same" | "failed_over" | "copied"

/** Undefined `before`: no engine has written it down; undefined `now`: the server does not tell. */
export const descentOf = (before: Lineage | undefined, now: Lineage | undefined): Descent => {
  if (before === undefined || now === undefined) return "same"
  if (before.system !== now.system || before.database !== now.database || before.table !== now.table) return "copied"
  return before.timeline === now.timeline ? "same" : "failed_over"
}
