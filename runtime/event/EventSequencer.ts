/** Moves what transactions have written to the outbox into the one order of events. Any number of nodes run it; one at a time does the work. */
import { Cause, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune, prunedAtOnce, sequence, sequencedAtOnce } from "#core/event/EventStore.ts"
import { EventWakes } from "./EventWakes.ts"

const SAFETY = "5 seconds"
/** Between two looks. What is written meanwhile goes together. */
const BREATH = "50 millis"
const AFTER_FAILURE = "1 second"
const PRUNE_EVERY = "10 minutes"
const PRUNE_BREATH = "200 millis"

/** For ever, whatever happens to the database. */
export const unending = <A, E, R>(what: string, work: Effect.Effect<A, E, R>) =>
  work.pipe(
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause)
        : Effect.andThen(Effect.logWarning(what, Cause.squash(cause)), Effect.sleep(AFTER_FAILURE))
    ),
    Effect.forever
  )

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const wakes = yield* EventWakes

    const look = Effect.gen(function* () {
      yield* wakes.outbox.wait(SAFETY)
      const { deliveries, events } = yield* sequence(sql)
      // Notifications tell us the same, unless the connection that hears them is down.
      if (events > 0) wakes.events.up()
      if (deliveries > 0) wakes.deliveries.up()
      if (events === 0) return
      // A transaction that found another one notifying did not: it may have committed just after we looked.
      if (events < sequencedAtOnce) yield* Effect.sleep(BREATH)
      wakes.outbox.up()
    })
    yield* Effect.forkScoped(unending("events could not be put in order", look))

    const pruneAll = Effect.gen(function* () {
      yield* Effect.sleep(PRUNE_EVERY)
      while ((yield* prune(sql)) === prunedAtOnce) yield* Effect.sleep(PRUNE_BREATH)
    })
    yield* Effect.forkScoped(unending("old events could not be deleted", pruneAll))
  })
)
