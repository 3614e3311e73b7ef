/**
 * Keeps within a carrier's limit for all requests together, because it refuses any beyond that. Calls and hang-ups never wait; looks wait for
 * room, and leave part of it to calls and hang-ups; and polls only use what nobody else needs.
 */
import { type Clock, Effect, Semaphore } from "effect"
import { nowOf } from "#core/SteadyTime.ts"

interface Limit {
  /** How many requests are accepted within the window. */
  readonly most: number
  readonly windowMillis: number
}

/** If an operator has set a higher call rate than `limit` allows, the account must have a higher limit. */
export const limitFor = ({ most, windowMillis }: Limit, requestsPerCall: number, callsPerSecond = 0): Limit => ({
  most: Math.max(most, Math.floor((callsPerSecond * requestsPerCall * windowMillis) / 1000)),
  windowMillis
})

/** Allows for requests that take different times to arrive. */
const MARGIN_MILLIS = 500
/** The share of the limit for looks. The rest is left to calls and hang-ups. */
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

  /** Waits until there is room for a look, and takes it. Looks are served in order. */
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

  /** Whether a poll may be sent now: polls are spaced out, and leave room for other requests. */
  mayPoll(): boolean {
    const now = nowOf(this.#clock)
    const recent = this.#sentAt.filter((at) => at > now - this.#windowMillis)
    const sinceLatest = now - (recent.at(-1) ?? Number.NEGATIVE_INFINITY)
    return recent.length < this.#mostLooks && sinceLatest * this.#most >= this.#windowMillis - MARGIN_MILLIS
  }
}
