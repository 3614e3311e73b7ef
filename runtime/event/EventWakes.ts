/**
 * Wakes this node's workers when a transaction of any node has committed work for them. A wake-up carries no data and may be lost, so every
 * worker also looks for work at intervals.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, type Duration, Effect, Latch, Layer, Queue, Schedule } from "effect"

/** The channel of the database's notifications. The payload names the worker to wake. */
const channel = "trunkline_events"

interface Wake {
  /** Returns after a wake-up, at once if there was one since the last return, or after `atMost`. For a single fiber only. */
  readonly wait: (atMost: Duration.Input) => Effect.Effect<void>
  readonly up: () => void
}

export class EventWakes extends Context.Service<
  EventWakes,
  {
    /** An event was written to the outbox. */
    readonly outbox: Wake
    /** Events were put in order. */
    readonly events: Wake
    /** A delivery may be due. */
    readonly deliveries: Wake
    /** A webhook node may have something to send. */
    readonly nodeWebhooks: Wake
  }
>()("runtime/event/EventWakes") {
  static readonly layer = Layer.effect(
    EventWakes,
    Effect.gen(function* () {
      const pg = yield* PgClient.PgClient
      const wakes = { outbox: makeWake(), events: makeWake(), deliveries: makeWake(), nodeWebhooks: makeWake() }
      const byPayload = new Map(Object.entries(wakes))
      const listening = Effect.gen(function* () {
        const notifications = yield* pg.listen(channel)
        // Notifications sent before we listened are lost, so all workers look.
        for (const wake of byPayload.values()) wake.up()
        while (true) {
          const { payload } = yield* Queue.take(notifications)
          byPayload.get(payload)?.up()
        }
      })
      yield* Effect.scoped(listening).pipe(
        Effect.tapCause((cause) =>
          Cause.hasInterruptsOnly(cause)
            ? Effect.void
            : Effect.logWarning("listening for the database's notifications failed", Cause.squash(cause))
        ),
        Effect.sandbox,
        Effect.retry(Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("5 seconds")])),
        Effect.forkScoped
      )
      return wakes
    })
  )
}

const makeWake = (): Wake => {
  const latch = Latch.makeUnsafe(true)
  return {
    wait: (atMost) => latch.await.pipe(Effect.timeoutOption(atMost), Effect.andThen(Effect.sync(() => void latch.closeUnsafe()))),
    up: () => void latch.openUnsafe()
  }
}
