/**
 * The loop of a delivery worker: it claims what is due and fits, delivers each claim in its own fiber, and sleeps until the next delivery is due
 * or something wakes it. A policy decides what the loop claims and how that is delivered.
 */
import { Duration, Effect, FiberSet, type Scope } from "effect"
import { unending } from "#runtime/event/EventSequencer.ts"
import type { EventWakes } from "#runtime/event/EventWakes.ts"

/** Another node may be handling what is due, so the loop must not spin while nothing is left to claim. */
const SHORTEST_SLEEP = Duration.millis(20)
const RELEASE_TIMEOUT = "2 seconds"

interface DeliveryPolicy<Claimed> {
  /** The most claims in delivery at once. */
  readonly atOnce: number
  /** After this long, the loop looks even if nothing woke it. This also finds leases left behind by a dead node. */
  readonly longestSleep: Duration.Duration
  /** How long after a claim the loop looks again. Undefined if a claim takes everything that is due and fits. */
  readonly lookAgainAfter?: Duration.Input
  readonly wake: EventWakes["Service"]["deliveries"]
  /** Takes at most `room` leases. `inFlight` has this node's claims that are still in delivery. */
  readonly claim: (room: number, inFlight: ReadonlySet<Claimed>) => Effect.Effect<ReadonlyArray<Claimed>>
  /** Milliseconds until more is due; undefined if nothing is. */
  readonly nextDueIn: Effect.Effect<number | undefined>
  readonly deliver: (claimed: Claimed) => Effect.Effect<void>
  /** The message logged when the loop fails and restarts. */
  readonly complaint: string
}

/** Starts the loop. It runs until the scope closes, which interrupts the deliveries. */
export const run = Effect.fnUntraced(function* <Claimed>(policy: DeliveryPolicy<Claimed>): Effect.fn.Return<void, never, Scope.Scope> {
  const { lookAgainAfter, wake } = policy
  const fibers = yield* FiberSet.make<void>()
  const inFlight = new Set<Claimed>()
  const delivered = (claimed: Claimed) =>
    Effect.ensuring(
      policy.deliver(claimed),
      Effect.sync(() => {
        inFlight.delete(claimed)
        wake.up()
      })
    )
  const look = Effect.gen(function* () {
    const room = policy.atOnce - inFlight.size
    const claimed = room === 0 ? [] : yield* policy.claim(room, inFlight)
    for (const one of claimed) {
      inFlight.add(one)
      yield* FiberSet.run(fibers, delivered(one))
    }
    if (claimed.length > 0 && lookAgainAfter !== undefined) {
      yield* Effect.sleep(lookAgainAfter)
      return wake.up()
    }
    // When all room is taken, the end of a delivery wakes the loop.
    const dueIn = claimed.length === room ? undefined : yield* policy.nextDueIn
    yield* wake.wait(sleepFor(dueIn, policy.longestSleep))
  })
  yield* Effect.forkScoped(unending(policy.complaint, look))
})

const sleepFor = (dueInMillis: number | undefined, longest: Duration.Duration): Duration.Duration =>
  dueInMillis === undefined ? longest : Duration.clamp(Duration.millis(dueInMillis), { minimum: SHORTEST_SLEEP, maximum: longest })

/** Returns the lease if the delivery is interrupted. If that fails, the lease expires by itself. */
export const releasing = <R>(release: Effect.Effect<void, never, R>) =>
  Effect.onInterrupt(() =>
    release.pipe(
      Effect.timeout(RELEASE_TIMEOUT),
      Effect.catchCause(() => Effect.void)
    )
  )
