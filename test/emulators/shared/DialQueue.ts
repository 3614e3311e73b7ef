/** A carrier's queue: calls beyond its rate wait in order. */

interface Queued {
  readonly hasEnded: () => boolean
  readonly dial: () => void
}

export class DialQueue {
  readonly #waiting: Array<Queued> = []
  readonly #gapMillis: number
  #isHeld = false
  /** Calls wait for this timer; undefined while the next call may leave at once. */
  #gap: NodeJS.Timeout | undefined

  /** `gapMillis`: the time between two calls. */
  constructor(gapMillis: number) {
    this.#gapMillis = gapMillis
  }

  mustWait(): boolean {
    return this.#isHeld || this.#gap !== undefined
  }

  hold(on: boolean): void {
    this.#isHeld = on
    this.#next()
  }

  add(call: Queued): void {
    this.#waiting.push(call)
    setImmediate(() => this.#next())
  }

  #next(): void {
    if (this.mustWait()) return
    const call = this.#waiting.shift()
    if (call === undefined) return
    if (call.hasEnded()) return this.#next()
    call.dial()
    if (this.#gapMillis === 0) return this.#next()
    const next = () => {
      this.#gap = undefined
      this.#next()
    }
    this.#gap = setTimeout(next, this.#gapMillis).unref()
  }
}
