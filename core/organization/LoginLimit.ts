/**
 * Against guessing: how many log-ins may fail, for one e-mail address and in all, and how many may sign up, in five minutes. Each node
 * counts for itself, in memory. An attempt counts before the password is checked, so that many at once do not slip through together.
 */
import { Clock, Context, Effect, Layer, Schema } from "effect"

export class TooManyAttempts extends Schema.TaggedError<TooManyAttempts>()("TooManyAttempts", {}) {}

const windowMillis = 300_000
const failuresPerEmail = 10
/** Also what bounds the memory: no more addresses are remembered. */
const failuresInAll = 300
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
    let inAll = 0
    let signedUp = 0

    /** All is forgotten at once when a window is over. */
    const renew = Effect.map(Clock.currentTimeMillis, (now) => {
      if (now < since + windowMillis) return
      since = now
      inAll = 0
      signedUp = 0
      failed.clear()
    })
    return {
      attempt: (email) =>
        Effect.flatMap(renew, () => {
          const failures = failed.get(email) ?? 0
          if (failures >= failuresPerEmail || inAll >= failuresInAll) return Effect.fail(new TooManyAttempts())
          failed.set(email, failures + 1)
          inAll++
          return Effect.void
        }),
      // After a new window has begun there may be nothing to take back.
      succeeded: (email) =>
        Effect.sync(() => {
          if (failed.delete(email)) inAll = Math.max(0, inAll - 1)
        }),
      signUp: Effect.flatMap(renew, () => (signedUp++ < signUps ? Effect.void : Effect.fail(new TooManyAttempts())))
    }
  })
}
