/**
 * Tells this node's workers that there is something to do, as soon as any node's transaction has committed it. A wake-up carries nothing
 * and may be lost: every worker looks by itself now and then.
 */
import { PgClient } from "@effect/sql-pg"
import { Cause, Context, type Duration, Effect, Latch, Layer, Queue, Schedule } from "effect"

/** Of the database's notifications; the payload says which worker. */
const channel = "trunkline_events"

interface Wake {
  /** Returns when there was a wake-up since the last return, or when the time is over. For one fiber only. */
  readonly wait: (atMost: Duration.Input) => Effect.Effect<void>
  readonly up: () => void
}

export class EventWakes extends Context.Service<
  EventWakes,
  {
    /** Something was written to the outbox. */
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
        // Whatever was said while nobody listened.
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
            : Effect.logWarning("the database's notifications are not heard", Cause.squash(cause))
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
