/** How much a carrier accepts within a moving window of time. What it refuses does not count. */
import { preciseNow } from "./CalleeLog.ts"

export class AcceptWindow {
  #accepted: Array<number> = []

  /** Whether one more is accepted now. */
  accepts(most: number, millis: number): boolean {
    const now = preciseNow()
    this.#accepted = this.#accepted.filter((at) => now - at < millis)
    const isAccepted = this.#accepted.length < most
    if (isAccepted) this.#accepted.push(now)
    return isAccepted
  }
}
