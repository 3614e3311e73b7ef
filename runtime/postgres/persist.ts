/** Retries a record until the database has accepted it. Calls go on meanwhile, however long the database is unreachable. */
import { Cause, Effect, Schedule } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

/** While the database is unreachable, each record logs that at most this often. */
const LOG_AGAIN_MILLIS = 60_000

const again = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])

export const persist = <A>(record: Effect.Effect<A>): Effect.Effect<A> => Effect.catchCause(record, (cause) => insist(record, cause))

/** Retries after a first attempt that has already failed. */
const insist = <A>(record: Effect.Effect<A>, first: Cause.Cause<never>): Effect.Effect<A> =>
  Effect.suspend(() => {
    let isFirst = true
    const next = Effect.suspend(() => {
      if (!isFirst) return record
      isFirst = false
      return Effect.failCause(first)
    })
    let logAt = Number.NEGATIVE_INFINITY
    const log = (cause: Cause.Cause<never>) =>
      Effect.flatMap(SteadyTime.now, (now) => {
        if (now < logAt) return Effect.void
        logAt = now + LOG_AGAIN_MILLIS
        return Effect.logWarning("a call could not be recorded yet", Cause.squash(cause))
      })
    return next.pipe(Effect.sandbox, Effect.tapError(log), Effect.retry(again), Effect.orDie)
  })
