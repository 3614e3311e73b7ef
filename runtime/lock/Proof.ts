/** A proof that holds for a limited time: that the database's lock is ours, or that the engine with the lock lets a call leave. */
import { type Clock, Effect } from "effect"
import { uptime } from "node:os"
import { nowOf } from "#core/SteadyTime.ts"

/** How far the wall clock may run ahead of steady time between proofs. Beyond this, the machine may have been suspended. */
const SUSPENDED_MILLIS = 1000

/** Milliseconds since the machine was booted, including the time it was suspended. Reads a file of the system. */
const uptimeMillis = () => uptime() * 1000
/** A shorter proof is not worth that: after such a jump it has lapsed, and another one is to be had at once. */
const SHORT_MILLIS = 1000

export class Proof {
  readonly #clock: Clock.Clock
  readonly #millis: number
  #steadyAt = Number.NEGATIVE_INFINITY
  #wallAt = 0
  #uptimeAt = 0

  /** `millis`: how long it holds. */
  constructor(clock: Clock.Clock, millis: number) {
    this.#clock = clock
    this.#millis = millis
  }

  /** Dated to just before `work` begins, because what proves it happens some time after that. */
  readonly by = <E>(work: Effect.Effect<boolean, E>): Effect.Effect<boolean, E> =>
    Effect.suspend(() => {
      const [steadyAt, wallAt] = [nowOf(this.#clock), this.#clock.currentTimeMillisUnsafe()]
      const uptimeAt = this.#millis < SHORT_MILLIS ? Number.NEGATIVE_INFINITY : uptimeMillis()
      return Effect.tap(work, (isProven) =>
        Effect.sync(() => {
          if (!isProven) return
          this.#steadyAt = steadyAt
          this.#wallAt = wallAt
          this.#uptimeAt = uptimeAt
        })
      )
    })

  withdraw(): void {
    this.#steadyAt = Number.NEGATIVE_INFINITY
  }

  /**
   * Steady time stands still while the machine is suspended, so on waking the wall clock has jumped, just as when somebody sets it; the
   * machine's uptime tells the two apart. It is read only after such a jump, because that costs a system call.
   *
   * `aheadMillis`: whether it still holds after this time, unless it is withdrawn.
   */
  readonly holds = (aheadMillis = 0): boolean => {
    const passed = nowOf(this.#clock) - this.#steadyAt
    if (passed + aheadMillis >= this.#millis) return false
    const latest = passed + SUSPENDED_MILLIS
    return this.#clock.currentTimeMillisUnsafe() - this.#wallAt < latest || uptimeMillis() - this.#uptimeAt < latest
  }
}
