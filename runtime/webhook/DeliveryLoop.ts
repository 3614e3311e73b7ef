/**
 * The loop of a worker that delivers: it looks what is due, claims what it has room for, delivers each in a fiber of its own, and sleeps
 * until the next is due or something wakes it. Which deliveries it claims, and what becomes of them, is its policy.
 */
import { Duration, Effect, FiberSet, type Scope } from "effect"
import { unending } from "#runtime/event/EventSequencer.ts"
import type { EventWakes } from "#runtime/event/EventWakes.ts"

/** What is due may be in the hands of another node this very moment. */
const SHORTEST_SLEEP = Duration.millis(20)
const RELEASE_TIMEOUT = "2 seconds"

interface DeliveryPolicy<Claimed> {
  /** How many are delivered at once. */
  readonly atOnce: number
  /** After that it looks even if nothing woke it. A lease that a dead node left behind is found by then. */
  readonly longestSleep: Duration.Duration
  /** How long after a claim it looks again. Undefined: a claim leaves nothing behind that is due and fits. */
  readonly lookAgainAfter?: Duration.Input
  readonly wake: EventWakes["Service"]["deliveries"]
  /** Takes leases on `room` deliveries at most. `inFlight` are those of this node that have not ended. */
  readonly claim: (room: number, inFlight: ReadonlySet<Claimed>) => Effect.Effect<ReadonlyArray<Claimed>>
  /** Milliseconds until the next is due; undefined when none is. */
  readonly nextDueIn: Effect.Effect<number | undefined>
  readonly deliver: (claimed: Claimed) => Effect.Effect<void>
  /** What is logged when the loop fails and begins anew. */
  readonly complaint: string
}

/** Runs until its scope closes, which interrupts the deliveries. */
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
    // Without room, it is the end of a delivery that wakes it.
    const dueIn = claimed.length === room ? undefined : yield* policy.nextDueIn
    yield* wake.wait(sleepFor(dueIn, policy.longestSleep))
  })
  yield* Effect.forkScoped(unending(policy.complaint, look))
})

const sleepFor = (dueInMillis: number | undefined, longest: Duration.Duration): Duration.Duration =>
  dueInMillis === undefined ? longest : Duration.clamp(Duration.millis(dueInMillis), { minimum: SHORTEST_SLEEP, maximum: longest })

/** Gives a lease back when the delivery is interrupted. If that does not work, the lease ends by itself. */
export const releasing = <R>(release: Effect.Effect<void, never, R>) =>
  Effect.onInterrupt(() =>
    release.pipe(
      Effect.timeout(RELEASE_TIMEOUT),
      Effect.catchCause(() => Effect.void)
    )
  )
