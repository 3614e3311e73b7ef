/** Limits how often something may be tried: a burst, then a steady rate. Measured in steady time and kept in this node's memory. */
import type { SteadyMillis } from "#core/SteadyTime.ts"

interface Allowance {
  readonly atOnce: number
  /** One more try is granted after this time. */
  readonly everyMillis: number
}

/** Holds at most `capacity` keys; the key that was counted longest ago is forgotten first. */
export class Budgets {
  private readonly spent = new Map<string, { readonly times: number; readonly at: SteadyMillis }>()
  private readonly allowance: Allowance
  private readonly capacity: number

  constructor(allowance: Allowance, capacity: number) {
    this.allowance = allowance
    this.capacity = capacity
  }

  /** How long until `key` may try again; 0 if it may now. */
  waitMillis(key: string, now: SteadyMillis): number {
    return Math.max(0, this.timesAt(key, now) + 1 - this.allowance.atOnce) * this.allowance.everyMillis
  }

  spend(key: string, now: SteadyMillis): void {
    this.set(key, this.timesAt(key, now) + 1, now)
  }

  giveBack(key: string, now: SteadyMillis): void {
    this.set(key, this.timesAt(key, now) - 1, now)
  }

  clear(key: string): void {
    this.spent.delete(key)
  }

  private timesAt(key: string, now: SteadyMillis): number {
    const found = this.spent.get(key)
    return found === undefined ? 0 : Math.max(0, found.times - (now - found.at) / this.allowance.everyMillis)
  }

  private set(key: string, times: number, now: SteadyMillis): void {
    this.spent.delete(key)
    if (times <= 0) return
    this.spent.set(key, { times, at: now })
    if (this.spent.size <= this.capacity) return
    const [oldest] = this.spent.keys()
    if (oldest !== undefined) this.spent.delete(oldest)
  }
}
