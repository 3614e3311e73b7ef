/**
 * Keeps within a carrier's limit of requests, whatever they ask for, because it refuses the others. Calls and hang-ups never wait; looks wait until
 * there is room, and leave some of it to those; and polls only use what nobody else needs.
 */
import { type Clock, Effect, Semaphore } from "effect"
import { nowOf } from "#core/SteadyTime.ts"

interface Limit {
  /** So many requests are taken within the window. */
  readonly most: number
  readonly windowMillis: number
}

/** An operator who has set a higher rate of calls than `limit` has room for, has an account with a higher limit. */
export const limitFor = ({ most, windowMillis }: Limit, requestsPerCall: number, callsPerSecond = 0): Limit => ({
  most: Math.max(most, Math.floor((callsPerSecond * requestsPerCall * windowMillis) / 1000)),
  windowMillis
})

/** Requests are not under way equally long. */
const MARGIN_MILLIS = 500
/** Of the limit. The rest is left to calls and hang-ups. */
const LOOK_SHARE = 0.8

export class RequestBudget {
  readonly #clock: Clock.Clock
  readonly #most: number
  readonly #mostLooks: number
  readonly #windowMillis: number
  readonly #queue = Semaphore.makeUnsafe(1)
  /** When the latest requests left, at most `#most`. */
  #sentAt: ReadonlyArray<number> = []

  constructor(clock: Clock.Clock, { most, windowMillis }: Limit) {
    this.#clock = clock
    this.#most = most
    this.#mostLooks = Math.max(1, Math.floor(most * LOOK_SHARE))
    this.#windowMillis = windowMillis + MARGIN_MILLIS
  }

  /** A request leaves now. */
  spend(): void {
    this.#sentAt = [...this.#sentAt, nowOf(this.#clock)].slice(-this.#most)
  }

  readonly spent = Effect.sync(() => this.spend())

  /** Waits until there is room for a look, and takes it. Looks take turns in the order in which they asked. */
  get turn(): Effect.Effect<void> {
    return this.#queue.withPermits(1)(Effect.suspend(() => this.#awaitRoom()))
  }

  #awaitRoom(): Effect.Effect<void> {
    const waitMillis = (this.#sentAt.at(-this.#mostLooks) ?? Number.NEGATIVE_INFINITY) + this.#windowMillis - nowOf(this.#clock)
    if (waitMillis <= 0) return this.spent
    // Others that do not wait may have left in the meantime.
    return Effect.andThen(
      Effect.sleep(waitMillis),
      Effect.suspend(() => this.#awaitRoom())
    )
  }

  /** Whether a poll would be in nobody's way: it keeps its distance, and leaves room to others. */
  mayPoll(): boolean {
    const now = nowOf(this.#clock)
    const recent = this.#sentAt.filter((at) => at > now - this.#windowMillis)
    const sinceLatest = now - (recent.at(-1) ?? Number.NEGATIVE_INFINITY)
    return recent.length < this.#mostLooks && sinceLatest * this.#most >= this.#windowMillis - MARGIN_MILLIS
  }
}
