/** When each beat was sent: a database that has failed over lacks what was committed after the last beat that it has. */
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** Beats of an hour. */
const MOST = 9000
/** Taking the lock back counts as a beat that nobody notes. */
const UNNOTED = 10

export class Beats {
  /** Oldest first. */
  readonly #sent = new Map<number, SteadyMillis>()

  sent(beat: number, at: SteadyMillis): void {
    this.#sent.set(beat, at)
    const [oldest] = this.#sent.keys()
    if (this.#sent.size > MOST && oldest !== undefined) this.#sent.delete(oldest)
  }

  /** Until when a database whose last beat is this one has everything. */
  completeUntil(last: number): SteadyMillis {
    for (let beat = last; beat > last - UNNOTED; beat--) {
      const at = this.#sent.get(beat)
      if (at !== undefined) return at
    }
    return Number.NEGATIVE_INFINITY
  }
}
