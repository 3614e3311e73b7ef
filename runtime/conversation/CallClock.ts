/**
 * The time of a conversation that nobody has to wait for. It stands still while somebody thinks or speaks, and is moved on where a caller would
 * wait: then the timers that are due meanwhile fire, each at its time. What answers from outside, such as a model, keeps the clock on the wall.
 */
import { type Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly until: number
  readonly wake: () => void
}

export class CallClock implements Clock.Clock {
  #now: number
  readonly #origin: number
  /** The earliest comes first; of two at the same time, the one that fell asleep first. */
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

  /** To this time, or only to the next timer if that is due before; it has been woken when this returns. */
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
