/** Counts how busy a connection pool is: statements and transactions that have a connection, and those waiting for one. */
import { Context, Effect, type Scope } from "effect"

export class PoolUse {
  /** How many have a connection. */
  running = 0
  private asked = 0

  /** How many are waiting for a connection. */
  get waiting(): number {
    return this.asked - this.running
  }

  /** Counts a connection that is obtained with `take` and held until the scope closes. */
  readonly holding = <A, E, R>(take: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
    Effect.gen({ self: this }, function* () {
      let isLent = false
      yield* Effect.acquireRelease(
        Effect.sync(() => this.asked++),
        () =>
          Effect.sync(() => {
            this.asked--
            if (isLent) this.running--
          })
      )
      const taken = yield* take
      isLent = true
      this.running++
      return taken
    })

  /** Counts `work`, which calls `lent` once it has its connection. */
  readonly counted = <A, E, R>(work: (lent: () => void) => Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      this.asked++
      let isLent = false
      const lent = () => {
        isLent = true
        this.running++
      }
      return Effect.ensuring(
        work(lent),
        Effect.sync(() => {
          this.asked--
          if (isLent) this.running--
        })
      )
    })
}

/** The pools of this process, by what they are for. */
export class PoolUses extends Context.Service<PoolUses, { readonly engine: PoolUse; readonly requests: PoolUse }>()(
  "runtime/postgres/PoolUses"
) {}
