/** On which database the engine dials, what is done first on one that may have lost something, and where its API is. */
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
  /** Where other engines reach the API. */
  #address: string | undefined
  #isAddressKept = false

  /** Of the database that the engine knows; undefined where the server does not tell. */
  get timeline(): string | undefined {
    return this.#lineage?.timeline
  }

  /** At the start. */
  readonly begin = (store: LockStore, epoch: number): Effect.Effect<Descent, SqlError.SqlError> =>
    Effect.gen({ self: this }, function* () {
      this.#session = { epoch, store }
      this.#lineage = yield* store.lineage
      if (this.#lineage === undefined)
        yield* Effect.logWarning("the database does not tell which one it is: a copy of it, and one that has failed over, are not noticed")
      return descentOf(yield* store.knownLineage, this.#lineage)
    })

  /** Whatever the database may have lost by the start has been dealt with: it is written down that the engine dials here. */
  readonly settled: Effect.Effect<void> = Effect.suspend(() => {
    this.#isSettled = true
    // If the session is lost now, the next one does it.
    return Effect.ignore(this.keep)
  })

  readonly listensAt = (address: string): void => {
    this.#address = address
  }

  /** Writes down what is to be known and has not been written yet. */
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
      this.#isAddressKept = false
      return "Mended"
    })
}
