/**
 * Limits how fast each owner's uploads are taken in: a number of bytes per second, after an initial burst. An owner that sends faster waits,
 * because all bytes are hashed and stored by the one thread that carries the calls.
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** Larger than the largest file, so that a single upload is never held up. */
const BURST_BYTES = 16 * 1024 * 1024
const BYTES_PER_SECOND = 4 * 1024 * 1024
const FORGET_MILLIS = 10_000

export class BytePace<Owner> {
  /** When the rate will have allowed for everything that was taken in so far. */
  private readonly paidUntil = new Map<Owner, SteadyMillis>()
  private sweptAt = Number.NEGATIVE_INFINITY

  /** The number of owners that are remembered. */
  get size(): number {
    return this.paidUntil.size
  }

  /** Counts bytes that have arrived, and returns how many milliseconds to wait before taking in more. */
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
