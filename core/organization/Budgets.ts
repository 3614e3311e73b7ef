/** How often something may be tried: some times at once, and then again as time goes by. Steady time; counted in memory, by this node. */
import type { SteadyMillis } from "#core/SteadyTime.ts"

interface Allowance {
  readonly atOnce: number
  /** After so long, one more. */
  readonly everyMillis: number
}

/** Of at most `capacity` keys; those that were counted against least recently are forgotten first. */
export class Budgets {
  private readonly spent = new Map<string, { readonly times: number; readonly at: SteadyMillis }>()
  private readonly allowance: Allowance
  private readonly capacity: number

  constructor(allowance: Allowance, capacity: number) {
    this.allowance = allowance
    this.capacity = capacity
  }

  /** Until `key` has one left: 0 when it has. */
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
