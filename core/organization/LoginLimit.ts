/**
 * Against guessing: how many log-ins may fail for one e-mail address, and how many may sign up, in five minutes. Each node
 * counts for itself, in memory. An attempt counts before the password is checked, so that many at once do not slip through together.
 */
import { Context, Effect, Layer, Schema } from "effect"
import * as SteadyTime from "../SteadyTime.ts"

export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {}) {}

const windowMillis = 300_000
const failuresPerEmail = 10
/** Of which the failures are remembered; of more, those that failed first are forgotten. Nobody is refused for what others do. */
const rememberedEmails = 10_000
const signUps = 300

export class LoginLimit extends Context.Service<
  LoginLimit,
  {
    /** Counts an attempt as failed. */
    readonly attempt: (email: string) => Effect.Effect<void, TooManyAttempts>
    /** The attempt was none at guessing. */
    readonly succeeded: (email: string) => Effect.Effect<void>
    readonly signUp: Effect.Effect<void, TooManyAttempts>
  }
>()("core/organization/LoginLimit") {
  static readonly layer = Layer.sync(LoginLimit, () => {
    const failed = new Map<string, number>()
    let since = Number.NEGATIVE_INFINITY
    let signedUp = 0

    /** All is forgotten at once when a window is over. */
    const renew = Effect.map(SteadyTime.now, (now) => {
      if (now < since + windowMillis) return
      since = now
      signedUp = 0
      failed.clear()
    })
    return {
      attempt: (email) =>
        Effect.flatMap(renew, () => {
          const failures = failed.get(email) ?? 0
          if (failures >= failuresPerEmail) return Effect.fail(new TooManyAttempts())
          const [first] = failed.keys()
          if (failed.size >= rememberedEmails && first !== undefined && failures === 0) failed.delete(first)
          failed.set(email, failures + 1)
          return Effect.void
        }),
      succeeded: (email) =>
        Effect.sync(() => {
          failed.delete(email)
        }),
      signUp: Effect.flatMap(renew, () => (signedUp++ < signUps ? Effect.void : Effect.fail(new TooManyAttempts())))
    }
  })
}
