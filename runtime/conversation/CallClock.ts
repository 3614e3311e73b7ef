/**
 * The time of a conversation in which nobody has to wait. It stands still while somebody thinks or speaks, and jumps ahead where a caller would
 * wait: the timers due by then fire, each at its time. Anything that answers from outside, such as a model, keeps the real clock.
 */
import { type Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

export class CallClock implements Clock.Clock {
  #now: number
  readonly #origin: number
  /** Ordered by time; of two at the same time, the one that fell asleep first. */
  #sleepers: ReadonlyArray<Sleeper> = []

  constructor(startsAt: number) {
    this.#now = startsAt
    this.#origin = startsAt
  }

  currentTimeMillisUnsafe(): number {
    return this.#now
  }
  currentTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.#now)) * 1_000_000n
  }
  monotonicTimeNanosUnsafe(): bigint {
    return BigInt(Math.round(this.#now - this.#origin)) * 1_000_000n
  }
  readonly currentTimeMillis = Effect.sync(() => this.currentTimeMillisUnsafe())
  readonly currentTimeNanos = Effect.sync(() => this.currentTimeNanosUnsafe())
  readonly monotonicTimeNanos = Effect.sync(() => this.monotonicTimeNanosUnsafe())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const sleeper = { until: this.#now + Duration.toMillis(duration), wake: () => resume(Effect.void) }
      this.#sleepers = [...this.#sleepers, sleeper].toSorted((one, other) => one.until - other.until)
      return Effect.sync(() => {
        this.#sleepers = this.#sleepers.filter((one) => one !== sleeper)
      })
    })
  }

  /** When the next timer is due, if any is. */
  get next(): number | undefined {
    return this.#sleepers[0]?.until
  }

  /** Moves to this time, or only to the next timer if that is due earlier; that timer has been woken when this returns. */
  moveTo(time: number): void {
    const [first, ...others] = this.#sleepers
    if (first === undefined || first.until > time) {
      this.#now = Math.max(this.#now, time)
      return
    }
    this.#now = Math.max(this.#now, first.until)
    this.#sleepers = others
    first.wake()
  }
}
