/**
 * Port: what has been spent of a budget at any engine. Each engine decides by what it knows, at once, and tells the others a moment later. Until it
 * hears of them, they can spend the same; alone, it counts for itself.
 */
import { Context } from "effect"

/** What has been spent here of one key, of which nobody has been told yet. */
export interface Spending {
  readonly key: string
  /** Less than 0: given back. */
  readonly amount: number
  /** How much of it was spent without that, as far as is known here. */
  readonly before: number
  /** After this time, one is granted again. */
  readonly everyMillis: number
}

export interface SharedBudget {
  /** What was spent since it was last taken, of at most so many keys. */
  readonly take: (most: number) => ReadonlyArray<Spending>
  /** How much of it is spent at all engines, with what was taken here. */
  readonly learn: (key: string, spent: number) => void
}

export const SharedBudgets = Context.Reference<{
  /** Shares it under this name. Returns what to call when something was spent; undefined: there is nobody to share it with. */
  readonly share: (name: string, budget: SharedBudget) => (() => void) | undefined
}>("core/organization/SharedBudgets", { defaultValue: () => ({ share: () => undefined }) })

/** What was spent and not taken yet, of at most `capacity` keys: the one that was spent longest ago is forgotten first. */
export class Untaken<Key> {
  private readonly amounts = new Map<Key, number>()
  private readonly capacity: number
  private readonly tell: () => void

  constructor(capacity: number, tell: () => void) {
    this.capacity = capacity
    this.tell = tell
  }

  of(key: Key): number {
    return this.amounts.get(key) ?? 0
  }

  add(key: Key, amount: number): void {
    const sum = this.of(key) + amount
    if (sum === 0) return void this.amounts.delete(key)
    this.amounts.set(key, sum)
    const [oldest] = this.amounts.keys()
    if (this.amounts.size > this.capacity && oldest !== undefined) this.amounts.delete(oldest)
    if (this.amounts.size === 1) this.tell()
  }

  take(most: number): ReadonlyArray<readonly [Key, number]> {
    const taken = [...this.amounts].slice(0, most)
    for (const [key] of taken) this.amounts.delete(key)
    return taken
  }
}
