import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** What a unique index refuses, as the error that `taken` makes of it, by the index's name. Of another index it is a defect. */
export const refusedAs =
  <Taken>(taken: Readonly<Record<string, () => Taken>>) =>
  <A, E, R>(change: Effect.Effect<A, E | SqlError.SqlError, R>) =>
    Effect.catchReason(change, "SqlError", "UniqueViolation", ({ constraint }, error) => {
      const refusal = taken[constraint ?? ""]
      return refusal === undefined ? Effect.die(error) : Effect.fail(refusal())
    })
