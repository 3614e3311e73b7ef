/**
 * What happens when requests ask for more than the one thread can do that also carries the calls: those who ask for the most are refused, until
 * the thread keeps up with its timers again. Everybody has the same share, which shrinks while the thread is late and grows back after; nobody
 * is refused who asks for less than `LEAST_SHARE`, and nobody at all who has the thread to himself.
 *
 * A refusal costs a tenth of an answer, and is given before anything else is looked at. Counted by each engine in memory.
 */
import type { SteadyMillis } from "#core/SteadyTime.ts"

/** How often the thread's lateness is looked at. */
export const LOOK_MILLIS = 100
/** On average over about half a second. Later than this, shares shrink. */
const LATE_MILLIS = 10
/** Earlier than this, they grow. */
const PROMPT_MILLIS = 5
/** Of a new look in an average. */
const NEWEST_SHARE = 0.2
const SHRINK = 0.8
const GROW = 1.03
/** Weight per second that everybody may ask for, however late the thread is; and what may be asked for at once by who has asked for little. */
const LEAST_SHARE = 100
const LEAST_BURST = 500
/** A larger share may be used up in advance for so long. */
const BURST_MILLIS = 500
/** Who asks for less than so much weight a second does not count as somebody else. */
const IDLE_RATE = 0.5
/** A body costs as much as a light request for each so many bytes of it. */
const BYTES_OF_LIGHT = 10_000
/** In light requests: what changes something, a websocket, and a route that is heavy work. */
const weights = { light: 1, change: 5, heavy: 20 } as const
const heaviest = 250

type RequestKind = keyof typeof weights

/** About how long the thread is kept busy, in light requests. `bodyBytes`: NaN where nobody says. */
export const weightOf = (kind: RequestKind, bodyBytes: number): number =>
  Math.min(heaviest, weights[kind] + (bodyBytes > 0 ? bodyBytes / BYTES_OF_LIGHT : 0))

interface Use {
  /** Of answered requests, weight per second, on average. */
  rate: number
  /** Weight since the last look. */
  sum: number
  /** Weight that may still be asked for. Not above zero: as soon as the thread is late, this is one of those who are refused. */
  left: number
}

export class LoadShedding {
  private readonly uses = new Map<string, Use>()
  private late = 0
  /** Weight per second; infinite while the thread keeps up. */
  private share = Number.POSITIVE_INFINITY
  private lookedAt: SteadyMillis | undefined

  /** How many somebodies are being counted. */
  get size(): number {
    return this.uses.size
  }

  /** Every `LOOK_MILLIS`, by a timer of the thread itself. */
  look(now: SteadyMillis): void {
    const passed = Math.max(1, now - (this.lookedAt ?? now - LOOK_MILLIS))
    this.lookedAt = now
    // A thread that stood still for long missed as many looks.
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
      // Nobody comes near it any more.
      this.share = grown > 4 * Math.max(most, LEAST_SHARE) ? Number.POSITIVE_INFINITY : grown
    }
  }

  /** Counts a request of `somebody`, unless it is to be refused. */
  refuses(somebody: string, weight: number): boolean {
    const use = this.useOf(somebody)
    if (this.share !== Number.POSITIVE_INFINITY && use.left <= 0) return true
    use.left = Math.max(-weight, use.left - weight)
    use.sum += weight
    return false
  }

  private useOf(somebody: string): Use {
    const found = this.uses.get(somebody)
    if (found !== undefined) return found
    const made = { rate: 0, sum: 0, left: LEAST_BURST }
    this.uses.set(somebody, made)
    return made
  }
}
