/**
 * Keys cannot be guessed, but each unknown key costs a database statement, and each invalid token may cost a signature check as well. Both
 * count against the address they come from before they are looked up, so that many at once do not slip through together. A key or token that
 * was valid before is always looked up, whatever else comes from its address, which may be that of a shared proxy.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Budgets } from "./Budgets.ts"
import { SharedBudgets } from "./SharedBudgets.ts"

export class TooManyWrongKeys extends Schema.TaggedError<TooManyWrongKeys>()("TooManyWrongKeys", { retryAfterSeconds: Schema.Int }) {}

const allowance = { atOnce: 200, everyMillis: 200 }
const countedAddresses = 10_000
const goodKeys = 10_000
const goodMillis = 86_400_000

export class WrongKeys {
  private readonly budgets: Budgets
  private readonly goodUntil = new Map<string, number>()
  private readonly clock: Clock.Clock

  constructor(clock: Clock.Clock, shared: (typeof SharedBudgets)["Service"]) {
    this.clock = clock
    this.budgets = new Budgets(allowance, countedAddresses).sharedAs("wrongKeys", shared, () => SteadyTime.nowOf(clock))
  }

  /** Runs `lookedUp`, unless this address has used up its budget of failures. */
  within<A, E>(subscriber: string, rawKey: string, lookedUp: Effect.Effect<A, E>): Effect.Effect<A, E | TooManyWrongKeys> {
    return Effect.suspend((): Effect.Effect<A, E | TooManyWrongKeys> => {
      const now = SteadyTime.nowOf(this.clock)
      if (now < (this.goodUntil.get(rawKey) ?? Number.NEGATIVE_INFINITY)) {
        return Effect.tapError(lookedUp, () => Effect.sync(() => this.goodUntil.delete(rawKey)))
      }
      const wait = this.budgets.waitMillis(subscriber, now)
      if (wait > 0) return Effect.fail(new TooManyWrongKeys({ retryAfterSeconds: Math.ceil(wait / 1000) }))
      this.budgets.spend(subscriber, now)
      return Effect.tap(lookedUp, () => Effect.sync(() => this.wasGood(subscriber, rawKey)))
    })
  }

  private wasGood(subscriber: string, rawKey: string): void {
    const now = SteadyTime.nowOf(this.clock)
    this.budgets.giveBack(subscriber, now)
    if (this.goodUntil.size >= goodKeys) this.goodUntil.clear()
    this.goodUntil.set(rawKey, now + goodMillis)
  }
}

/** API keys and tokens share these budgets. */
export class WrongCredentials extends Context.Service<WrongCredentials, WrongKeys>()("core/organization/WrongCredentials") {
  static readonly layer = Layer.effect(
    WrongCredentials,
    Effect.map(Effect.all([Clock.Clock, SharedBudgets]), ([clock, shared]) => new WrongKeys(clock, shared))
  )
}
