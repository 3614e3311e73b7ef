/** Limits how many requests of one trunk may be waiting for a reply at once. */
import { Effect, Semaphore } from "effect"

export class InFlight {
  readonly limit: number
  readonly #semaphore: Semaphore.Semaphore
  /** Callbacks of campaigns that want to claim once another request can be sent, in the order in which they asked. */
  readonly #waiting = new Set<() => void>()
  #wanted = 0

  constructor(limit: number) {
    this.limit = limit
    this.#semaphore = Semaphore.makeUnsafe(limit)
  }

  /** Whether a contact claimed now would have to wait for the replies of others. */
  get isFull(): boolean {
    return this.#wanted >= this.limit
  }

  /** Calls `wake` once after a request has received its reply; other waiters may be called first. */
  await(wake: () => void): void {
    this.#waiting.add(wake)
  }

  readonly withPermits =
    (permits: number) =>
    <A, E, R>(request: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
      Effect.acquireUseRelease(
        Effect.sync(() => {
          this.#wanted += permits
        }),
        () => this.#semaphore.withPermits(permits)(request),
        () => Effect.sync(() => this.#done(permits))
      )

  #done(permits: number): void {
    this.#wanted -= permits
    if (!this.isFull) this.wakeNext()
  }

  /** Another request can be sent, perhaps by another engine. */
  wakeNext(): void {
    const [next] = this.#waiting
    if (next === undefined) return
    this.#waiting.delete(next)
    next()
  }
}
