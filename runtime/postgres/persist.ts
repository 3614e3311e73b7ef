/** Retries a record until the database has taken it. Calls go on in the meantime, however long the database is away. */
import { Cause, Effect, Schedule } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

/** While the database is away, each record logs that at most this often. */
const LOG_AGAIN_MILLIS = 60_000

export const persist = <A>(record: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.suspend(() => {
    let logAt = Number.NEGATIVE_INFINITY
    const log = (cause: Cause.Cause<never>) =>
      Effect.flatMap(SteadyTime.now, (now) => {
        if (now < logAt) return Effect.void
        logAt = now + LOG_AGAIN_MILLIS
        return Effect.logWarning("a call could not be recorded yet", Cause.squash(cause))
      })
    return record.pipe(
      Effect.sandbox,
      Effect.tapError(log),
      Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])),
      Effect.orDie
    )
  })
