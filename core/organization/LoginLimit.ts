/**
 * Limits the guessing of passwords. Wrong passwords count against the address they come from, against the account, and against both together.
 * An address that has logged in to the account before has its own budget there, so that the guesses of others do not lock the owner out. An
 * attempt counts before the password is checked, so that many at once do not slip through together.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"
import { Budgets } from "./Budgets.ts"
import { SharedBudgets } from "./SharedBudgets.ts"

export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", { retryAfterSeconds: Schema.Int }) {}

/**
 * - `sameAccount`: this address has logged in to this account before.
 * - `otherAccount`: it has logged in to another account.
 * - `noAccount`: it has not logged in to any account.
 */
export type Standing = "sameAccount" | "otherAccount" | "noAccount"

interface Attempt {
  /** The address in lower case. */
  readonly email: string
  /** The address block, as `subscriberOf` returns it. */
  readonly subscriber: string
  readonly standing: Standing
}

const counted = 10_000
const seconds = 1000

export class LoginLimit extends Context.Service<
  LoginLimit,
  {
    /** Counts the attempt as failed until it is reported otherwise. */
    readonly attempt: (attempt: Attempt) => Effect.Effect<void, TooManyAttempts>
    /** Takes back an attempt whose password was never checked. */
    readonly withdrawn: (attempt: Attempt) => Effect.Effect<void>
    /** Takes back an attempt that was not a guess, because its password was right. */
    readonly succeeded: (attempt: Attempt) => Effect.Effect<void>
    readonly signUp: (subscriber: string) => Effect.Effect<void, TooManyAttempts>
  }
>()("core/organization/LoginLimit") {
  static readonly layer = Layer.effect(
    LoginLimit,
    Effect.map(Effect.all([SharedBudgets, Clock.Clock]), ([shared, clock]) => {
      const budget = (name: string, atOnce: number, everySeconds: number) =>
        new Budgets({ atOnce, everyMillis: everySeconds * seconds }, counted).sharedAs(name, shared, () => SteadyTime.nowOf(clock))
      const sameAccount = budget("loginsOfOwner", 30, 10)
      const pairs = budget("loginsOfPair", 10, 30)
      const noAccount = budget("loginsOfStranger", 20, 15)
      // Many people can share an address, such as that of an office.
      const otherAccount = budget("loginsOfAddress", 60, 5)
      const accounts = budget("loginsOfAccount", 30, 10)
      const signUps = budget("signUps", 30, 10)

      const budgetsOf = ({ email, standing, subscriber }: Attempt): ReadonlyArray<readonly [Budgets, string]> => {
        const pair = `${subscriber} ${email}`
        if (standing === "sameAccount") return [[sameAccount, pair]]
        return [
          [pairs, pair],
          [standing === "otherAccount" ? otherAccount : noAccount, subscriber],
          [accounts, email]
        ]
      }
      const spend = (budgets: ReadonlyArray<readonly [Budgets, string]>) =>
        Effect.flatMap(SteadyTime.now, (now) => {
          const wait = Math.max(...budgets.map(([budget, key]) => budget.waitMillis(key, now)))
          if (wait > 0) return Effect.fail(new TooManyAttempts({ retryAfterSeconds: Math.ceil(wait / seconds) }))
          for (const [budget, key] of budgets) budget.spend(key, now)
          return Effect.void
        })
      return {
        attempt: (attempt) => spend(budgetsOf(attempt)),
        withdrawn: (attempt) =>
          Effect.map(SteadyTime.now, (now) => {
            for (const [budget, key] of budgetsOf(attempt)) budget.giveBack(key, now)
          }),
        succeeded: (attempt) =>
          Effect.map(SteadyTime.now, (now) => {
            const [[pair, key] = [pairs, ""], ...shared] = budgetsOf(attempt)
            pair.clear(key, now)
            for (const [budget, each] of shared) budget.giveBack(each, now)
          }),
        signUp: (subscriber) => spend([[signUps, subscriber]])
      }
    })
  )
}
