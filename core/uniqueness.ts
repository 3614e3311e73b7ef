import { Effect } from "effect"
import type { SqlError } from "effect/sql"

/** Turns the violation of a unique index into the error that `taken` has for that index. A violation of any other index is a defect. */
export const refusedAs =
  <Taken>(taken: Readonly<Record<string, () => Taken>>) =>
  <A, E, R>(change: Effect.Effect<A, E | SqlError.SqlError, R>) =>
    Effect.catchReason(change, "SqlError", "UniqueViolation", ({ constraint }, error) => {
      const refusal = taken[constraint ?? ""]
      return refusal === undefined ? Effect.die(error) : Effect.fail(refusal())
    })
