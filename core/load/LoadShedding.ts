/**
 * Sheds requests while the thread, which also carries the calls, is late for its timers: the clients that ask for the most are refused until
 * it keeps up again. All clients have the same share, which shrinks while the thread is late and grows back afterwards. A client that asks
 * for less than `LEAST_SHARE` is never refused, nor is one that has the thread to itself.
 *
 * A refusal costs a tenth of an answer, and is given before anything else is checked. Each engine counts in its own memory.
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** How often the lateness of the thread is measured. */
export const LOOK_MILLIS = 100
/** Average lateness, over about half a second, above which shares shrink. */
const LATE_MILLIS = 10
/** Average lateness below which shares grow. */
const PROMPT_MILLIS = 5
/** Weight of the newest measurement in an average. */
const NEWEST_SHARE = 0.2
const SHRINK = 0.8
const GROW = 1.03
/** Weight per second that each client may ask for, however late the thread is, and the burst allowed to one that has asked for little. */
const LEAST_SHARE = 100
const LEAST_BURST = 500
/** With a larger share, a burst may use up the share of this much time. */
const BURST_MILLIS = 500
/** A client that asks for less weight per second does not count as one that shares the thread. */
const IDLE_RATE = 0.5
/** This many bytes of a body weigh as much as one light request. */
const BYTES_OF_LIGHT = 10_000
/** Weights of requests, in light ones: one that reads, one that changes something or opens a websocket, and heavy work. */
const weights = { light: 1, change: 5, heavy: 20 } as const
const heaviest = 250

type RequestKind = keyof typeof weights

/** Roughly how long a request keeps the thread busy, in light requests. `bodyBytes` is NaN if the request does not declare it. */
export const weightOf = (kind: RequestKind, bodyBytes: number): number =>
  Math.min(heaviest, weights[kind] + (bodyBytes > 0 ? bodyBytes / BYTES_OF_LIGHT : 0))

interface Use {
  /** Average weight per second of the requests that were not refused. */
  rate: number
  /** Weight since the last measurement. */
  sum: number
  /** Weight that may still be asked for. At zero or below, the client is refused while shares are limited. */
  left: number
}

export class LoadShedding {
  private readonly uses = new Map<string, Use>()
  private late = 0
  /** Weight per second; infinite while the thread keeps up. */
  private share = Number.POSITIVE_INFINITY
  private lookedAt: SteadyMillis | undefined

  /** The number of clients that are being counted. */
  get size(): number {
    return this.uses.size
  }

  /** Must be called every `LOOK_MILLIS` by a timer on the thread itself: what it measures is how late this call comes. */
  look(now: SteadyMillis): void {
    const passed = Math.max(1, now - (this.lookedAt ?? now - LOOK_MILLIS))
    this.lookedAt = now
    // After a long standstill this measurement counts for all those that were missed.
    const newest = 1 - (1 - NEWEST_SHARE) ** (passed / LOOK_MILLIS)
    this.late += newest * (passed - LOOK_MILLIS - this.late)
    const isPressed = this.share !== Number.POSITIVE_INFINITY
    const refill = ((isPressed ? this.share : LEAST_SHARE) * passed) / 1000
    const room = Math.max(LEAST_BURST, isPressed ? (this.share * BURST_MILLIS) / 1000 : 0)
    let most = 0
    let active = 0
    for (const [name, use] of this.uses) {
      use.rate += newest * ((use.sum * 1000) / passed - use.rate)
      use.sum = 0
      use.left = Math.min(room, use.left + refill)
      most = Math.max(most, use.rate)
      if (use.rate >= IDLE_RATE) active++
      else if (use.left >= LEAST_BURST) this.uses.delete(name)
    }
    this.adjust(most, active > 1)
  }

  private adjust(most: number, isShared: boolean): void {
    if (!isShared) this.share = Number.POSITIVE_INFINITY
    else if (this.late > LATE_MILLIS) this.share = Math.max(LEAST_SHARE, Math.min(this.share, most) * SHRINK)
    else if (this.late < PROMPT_MILLIS) {
      const grown = this.share * GROW
      // A share that no client comes near limits nothing any more.
      this.share = grown > 4 * Math.max(most, LEAST_SHARE) ? Number.POSITIVE_INFINITY : grown
    }
  }

  /** Counts a request of `client`, unless it must be refused. */
  refuses(client: string, weight: number): boolean {
    const use = this.useOf(client)
    if (this.share !== Number.POSITIVE_INFINITY && use.left <= 0) return true
    use.left = Math.max(-weight, use.left - weight)
    use.sum += weight
    return false
  }

  private useOf(client: string): Use {
    const found = this.uses.get(client)
    if (found !== undefined) return found
    const made = { rate: 0, sum: 0, left: LEAST_BURST }
    this.uses.set(client, made)
    return made
  }
}
