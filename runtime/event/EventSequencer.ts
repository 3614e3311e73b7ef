/** Puts the events that transactions wrote to the outbox into one order. Every node runs this, but only one at a time does the work. */
import { Cause, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { prune, prunedAtOnce, sequence, sequencedAtOnce } from "#core/event/EventStore.ts"
import { EventWakes } from "./EventWakes.ts"

const SAFETY = "5 seconds"
/** The pause between two batches. Events written meanwhile share the next one. */
const BREATH = "50 millis"
const AFTER_FAILURE = "1 second"
const PRUNE_EVERY = "10 minutes"
const PRUNE_BREATH = "200 millis"

/** Repeats the work forever. A failure, such as an outage of the database, is logged and followed by a pause. */
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
      // Notifications say the same, unless the connection listening for them is down.
      if (events > 0) wakes.events.up()
      if (deliveries > 0) wakes.deliveries.up()
      if (events === 0) return
      // A transaction does not notify while another one is notifying, so it may have committed unannounced just after we looked.
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
