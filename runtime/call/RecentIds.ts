import type { Clock } from "effect"
import * as SteadyTime from "#core/SteadyTime.ts"

/** Remembers each id for `millis`. */
export class RecentIds {
  readonly #clock: Clock.Clock
  readonly #millis: number
  readonly #until = new Map<string, number>()

  constructor(clock: Clock.Clock, millis: number) {
    this.#clock = clock
    this.#millis = millis
  }
  add(id: string): void {
    const now = SteadyTime.nowOf(this.#clock)
    // A map keeps the order of insertion, so the oldest come first.
    for (const [old, until] of this.#until) {
      if (until > now) break
      this.#until.delete(old)
    }
    this.#until.set(id, now + this.#millis)
  }
  /** False if it was not remembered. */
  remove(id: string): boolean {
    const isRecent = this.has(id)
    this.#until.delete(id)
    return isRecent
  }
  has(id: string): boolean {
    return (this.#until.get(id) ?? 0) > SteadyTime.nowOf(this.#clock)
  }
}
