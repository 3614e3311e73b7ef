/** On which database the engine dials, and what is done first on one that may have lost something. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import { type Descent, descentOf, type Lineage } from "#runtime/postgres/Lineage.ts"
import type { LockStore } from "#runtime/postgres/LockStore.ts"

export class Whereabouts {
  /** Carried out before anything is dialed on a database that has failed over while the engine runs. */
  mend: Effect.Effect<void> = Effect.void
  #isSettled = false
  #session: { readonly store: LockStore; readonly epoch: number } | undefined
  #lineage: Lineage | undefined
  #isKept = false

  /** At the start. */
  readonly begin = (store: LockStore, epoch: number): Effect.Effect<Descent, SqlError.SqlError> =>
    Effect.gen({ self: this }, function* () {
      this.#session = { epoch, store }
      this.#lineage = yield* store.lineage
      return descentOf(yield* store.knownLineage, this.#lineage)
    })

  /** Whatever the database may have lost by the start has been dealt with: it is written down that the engine dials here. */
  readonly settled: Effect.Effect<void> = Effect.suspend(() => {
    this.#isSettled = true
    // If the session is lost now, the next one does it.
    return Effect.ignore(this.keep)
  })

  readonly keep: Effect.Effect<void, SqlError.SqlError> = Effect.suspend(() => {
    if (!this.#isSettled || this.#isKept || this.#lineage === undefined || this.#session === undefined) return Effect.void
    const { epoch, store } = this.#session
    return Effect.map(store.keepLineage(epoch, this.#lineage), () => {
      this.#isKept = true
    })
  })

  /** On a new session, which may have led to another server. `Lost`: the lock was lost meanwhile, and nothing is mended. */
  readonly mended = (
    store: LockStore,
    epoch: number,
    /** Shows other engines that this one lives, and ends when it has lost the lock. */
    beating: Effect.Effect<void, SqlError.SqlError>
  ): Effect.Effect<"Same" | "Mended" | "Elsewhere" | "Lost", SqlError.SqlError> =>
    Effect.gen({ self: this }, function* () {
      this.#session = { epoch, store }
      const found = yield* store.lineage
      const descent = descentOf(this.#lineage, found)
      if (descent === "same") return "Same"
      if (descent === "copied") return "Elsewhere"
      yield* Effect.logWarning("the database has failed over: nothing is dialed until it has what it may have lost")
      const isMended = yield* Effect.raceFirst(Effect.as(this.mend, true), Effect.as(beating, false))
      if (!isMended) return "Lost"
      this.#lineage = found
      this.#isKept = false
      return "Mended"
    })
}
