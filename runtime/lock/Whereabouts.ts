/** Which database the engine dials on, what must be done first if it may have lost writes, and where the engine's API is. */
import { Effect } from "effect"
import type { SqlError } from "effect/sql"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { type Descent, descentOf, type Lineage } from "#runtime/postgres/Lineage.ts"
import type { LockStore } from "#runtime/postgres/LockStore.ts"

export class Whereabouts {
  /**
   * Runs before anything is dialed on a database that has failed over while the engine runs, and has everything that was committed before
   * `completeUntil`.
   */
  mend: (completeUntil: SteadyMillis) => Effect.Effect<void> = () => Effect.void
  /** The database has failed over, and is not mended yet. */
  #completeUntil = Number.POSITIVE_INFINITY
  #isSettled = false
  #session: { readonly store: LockStore; readonly epoch: number } | undefined
  #lineage: Lineage | undefined
  #isKept = false
  /** Where other engines reach the API. */
  #address: string | undefined
  #isAddressKept = false

  /** The timeline of the database the engine knows; undefined if the server does not report one. */
  get timeline(): string | undefined {
    return this.#lineage?.timeline
  }

  /** Called at startup. */
  readonly begin = (store: LockStore, epoch: number): Effect.Effect<Descent, SqlError.SqlError> =>
    Effect.gen({ self: this }, function* () {
      this.#session = { epoch, store }
      this.#lineage = yield* store.lineage
      if (this.#lineage === undefined)
        yield* Effect.logWarning("the database does not tell which one it is: a copy of it, and one that has failed over, are not noticed")
      return descentOf(yield* store.knownLineage, this.#lineage)
    })

  /** Whatever the database may have lost before the start has been dealt with: records that the engine dials here. */
  readonly settled: Effect.Effect<void> = Effect.suspend(() => {
    this.#isSettled = true
    // If the session is lost now, the next one records it.
    return Effect.ignore(this.keep)
  })

  readonly listensAt = (address: string): void => {
    this.#address = address
  }

  /** Writes the lineage and the address, unless they are written already. */
  readonly keep: Effect.Effect<void, SqlError.SqlError> = Effect.gen({ self: this }, function* () {
    if (this.#session === undefined) return
    const { epoch, store } = this.#session
    if (this.#isSettled && !this.#isKept && this.#lineage !== undefined) {
      yield* store.keepLineage(epoch, this.#lineage)
      this.#isKept = true
    }
    if (!this.#isAddressKept && this.#address !== undefined) {
      yield* store.listensAt(epoch, this.#address)
      this.#isAddressKept = true
    }
  })

  /** For a new session, which may have reached another server. `Lost`: the lock was lost meanwhile, and nothing is mended. */
  readonly mended = (
    store: LockStore,
    epoch: number,
    completeUntil: SteadyMillis,
    /** Shows other engines that this one is alive; ends when the lock is lost. */
    beating: Effect.Effect<void, SqlError.SqlError>
  ): Effect.Effect<"Same" | "Mended" | "Elsewhere" | "Lost", SqlError.SqlError> =>
    Effect.gen({ self: this }, function* () {
      this.#session = { epoch, store }
      const found = yield* store.lineage
      const descent = descentOf(this.#lineage, found)
      if (descent === "same") return "Same"
      if (descent === "copied") return "Elsewhere"
      yield* Effect.logWarning("the database has failed over: nothing is dialed until it has what it may have lost")
      // Beats of sessions that were lost while it was mended say nothing.
      this.#completeUntil = Math.min(this.#completeUntil, completeUntil)
      const isMended = yield* Effect.raceFirst(Effect.as(this.mend(this.#completeUntil), true), Effect.as(beating, false))
      if (!isMended) return "Lost"
      this.#completeUntil = Number.POSITIVE_INFINITY
      this.#lineage = found
      this.#isKept = false
      this.#isAddressKept = false
      return "Mended"
    })
}
