/** Limits how often something may be tried: a burst, then a steady rate. Measured in steady time, in memory; engines can share what is spent. */
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { type SharedBudgets, type Spending, Untaken } from "./SharedBudgets.ts"

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
  private untaken: Untaken<string> | undefined

  constructor(allowance: Allowance, capacity: number) {
    this.allowance = allowance
    this.capacity = capacity
  }

  /** From now on, what is spent at other engines counts as well. */
  sharedAs(name: string, { share }: (typeof SharedBudgets)["Service"], now: () => SteadyMillis): this {
    const tell = share(name, {
      learn: (key, spent) => this.set(key, spent + (this.untaken?.of(key) ?? 0), now()),
      take: (most) => this.taken(most, now())
    })
    this.untaken = tell && new Untaken(this.capacity, tell)
    return this
  }

  /** How long until `key` may try again; 0 if it may now. */
  waitMillis(key: string, now: SteadyMillis): number {
    return Math.max(0, this.timesAt(key, now) + 1 - this.allowance.atOnce) * this.allowance.everyMillis
  }

  spend(key: string, now: SteadyMillis): void {
    this.change(key, 1, now)
  }

  giveBack(key: string, now: SteadyMillis): void {
    this.change(key, -1, now)
  }

  clear(key: string, now: SteadyMillis): void {
    this.change(key, -this.timesAt(key, now), now)
  }

  private timesAt(key: string, now: SteadyMillis): number {
    const found = this.spent.get(key)
    return found === undefined ? 0 : Math.max(0, found.times - (now - found.at) / this.allowance.everyMillis)
  }

  private change(key: string, by: number, now: SteadyMillis): void {
    this.set(key, this.timesAt(key, now) + by, now)
    this.untaken?.add(key, by)
  }

  private set(key: string, times: number, now: SteadyMillis): void {
    this.spent.delete(key)
    if (times <= 0) return
    this.spent.set(key, { times, at: now })
    if (this.spent.size <= this.capacity) return
    const [oldest] = this.spent.keys()
    if (oldest !== undefined) this.spent.delete(oldest)
  }

  /** What was spent so long ago that it has been granted again is not told. */
  private taken(most: number, now: SteadyMillis): ReadonlyArray<Spending> {
    const { everyMillis } = this.allowance
    return (this.untaken?.take(most) ?? []).map(([key, sum]) => {
      const times = this.timesAt(key, now)
      const amount = Math.min(sum, times)
      return { amount, before: times - amount, everyMillis, key }
    })
  }
}
