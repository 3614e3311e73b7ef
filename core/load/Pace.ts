/**
 * Limits how fast each owner uses something that all share: an amount per second, after an initial burst. An owner that uses more waits. What is
 * limited is the thread that carries the calls, by the bytes that it has to handle or by its time.
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"

const FORGET_MILLIS = 10_000

export interface PaceLimits {
  readonly burst: number
  readonly perSecond: number
}

export class Pace<Owner> {
  private readonly burstMillis: number
  private readonly perMilli: number
  /** When the rate will have allowed for everything that was used so far. */
  private readonly paidUntil = new Map<Owner, SteadyMillis>()
  private sweptAt = Number.NEGATIVE_INFINITY

  constructor({ burst, perSecond }: PaceLimits) {
    this.burstMillis = (burst / perSecond) * 1000
    this.perMilli = perSecond / 1000
  }

  /** The number of owners that are remembered. */
  get size(): number {
    return this.paidUntil.size
  }

  /** Counts what the owner has used, and returns how many milliseconds to wait before it may use more. */
  take(owner: Owner, amount: number, now: SteadyMillis): number {
    this.sweep(now)
    const paidUntil = Math.max(this.paidUntil.get(owner) ?? now, now) + amount / this.perMilli
    this.paidUntil.set(owner, paidUntil)
    return Math.max(0, paidUntil - this.burstMillis - now)
  }

  /** Counts it only if the owner may use as much now. For what is refused or waits elsewhere. */
  takes(owner: Owner, amount: number, now: SteadyMillis): boolean {
    this.sweep(now)
    const paidUntil = Math.max(this.paidUntil.get(owner) ?? now, now) + amount / this.perMilli
    if (paidUntil > now + this.burstMillis) return false
    this.paidUntil.set(owner, paidUntil)
    return true
  }

  private sweep(now: SteadyMillis): void {
    if (now < this.sweptAt + FORGET_MILLIS) return
    this.sweptAt = now
    for (const [owner, paidUntil] of this.paidUntil) if (paidUntil <= now) this.paidUntil.delete(owner)
  }
}
