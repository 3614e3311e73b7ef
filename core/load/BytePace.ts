/**
 * How fast bytes are taken in that have to be hashed and stored: each owner has so many a second, and some in advance. Whoever sends faster waits.
 * Everything that is sent passes the one thread that carries the calls.
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** More than the largest file: a single one is never held up. */
const BURST_BYTES = 16 * 1024 * 1024
const BYTES_PER_SECOND = 4 * 1024 * 1024
const FORGET_MILLIS = 10_000

export class BytePace<Owner> {
  /** When everything that was taken in so far will have been allowed for. */
  private readonly paidUntil = new Map<Owner, SteadyMillis>()
  private sweptAt = Number.NEGATIVE_INFINITY

  /** How many owners are remembered. */
  get size(): number {
    return this.paidUntil.size
  }

  /** Takes them in. How many milliseconds to wait before the next ones. */
  take(owner: Owner, bytes: number, now: SteadyMillis): number {
    this.sweep(now)
    const burstMillis = (BURST_BYTES / BYTES_PER_SECOND) * 1000
    const paidUntil = Math.max(this.paidUntil.get(owner) ?? now, now) + (bytes / BYTES_PER_SECOND) * 1000
    this.paidUntil.set(owner, paidUntil)
    return Math.max(0, paidUntil - burstMillis - now)
  }

  private sweep(now: SteadyMillis): void {
    if (now < this.sweptAt + FORGET_MILLIS) return
    this.sweptAt = now
    for (const [owner, paidUntil] of this.paidUntil) if (paidUntil <= now) this.paidUntil.delete(owner)
  }
}
