/**
 * How far apart calls leave. Each call takes a moment of its own in advance. A moment that no call uses is given back, and the moment of a
 * late call is moved. Has no clock: its owner passes the time, in steady milliseconds.
 */

/** Added to each second, so that calls leave slightly slower than the rate as long as none is late. */
const marginMillis = 30

/**
 * The part of the margin that each call keeps however late the calls before it were, so that two requests that the network brings closer
 * together still keep the rate at the callee's end. The rest of the margin lets the calls behind a late one catch up.
 */
const networkMillis = 25

/** How much of `networkMillis` a request may use up between its last check of the rate and its first byte. */
const slackMillis = 10

/**
 * By how much calls are further apart while nobody knows how late calls arrive: after this process was frozen, and at the beginning of an engine's
 * life, while the machine still works off what waited. Nothing is caught up with then either.
 */
const carefulStretch = 1.1

/** How far the first call of an engine keeps from the last that the engine before it may have sent, whatever the rate is. */
export const betweenEnginesMillis = 1000 * carefulStretch

/** At most this much of a delay is caught up with. */
const catchUpMillis = 100

/** Share of the usual spacing that calls keep while they catch up. */
const catchUpShare = 0.5

/** A call that is later than this has missed its moment, and goes between two others. */
export const lateMillis = 10

/** Most contacts that one turn claims. */
export const claimLimit = 50

/** Each time a provider refuses a call because there were too many, the spacing of calls grows by this factor. */
const slowing = 1.1
const slowest = 2
/** How much of that each call that leaves takes back: at 20 calls per second, one refusal is forgotten after 100 seconds. */
const recovery = 0.00005

/** How long an account that is no longer used is remembered as slow. */
const slownessMillis = 300_000

const windowMillis = 1000 + marginMillis
const roundingMillis = 1e-6

/** Milliseconds between two calls at `rate` dial requests per second. */
export const spacing = (rate: number): number => windowMillis / rate

/** When a call is to leave. Every rate that applies to the call holds the same object. */
export interface Moment {
  readonly at: number
}

/** When a call left, or the latest time at which it may have left. */
export interface Departed {
  at: number
}

export class Pace {
  /** Dial requests per second. */
  rate: number
  /** See `carefulStretch`. */
  isCareful = false
  /** Moments that are taken, and past ones from which others must still keep their distance; ascending. */
  #taken: Array<Moment> = []
  /** When calls really left, as far back as a rolling second reaches; ascending. */
  #left: Array<Departed> = []
  /** When the next moment would be if none before it had been late. Never ahead of the moments that are taken. */
  #due = Number.POSITIVE_INFINITY
  /** The factor by which calls are further apart than the rate requires. */
  #stretch = 1
  #slowedAt = Number.NEGATIVE_INFINITY

  constructor(rate: number) {
    this.rate = rate
  }

  /**
   * The first free moment from `from` on that is a spacing away from those of others; a late call needs only `share` of a spacing. If moments
   * were taken late, the next ones are closer together until the delay is caught up with.
   */
  free(from: number, share = 1): number {
    const onPace = this.#apart(from, this.#spacing * (this.isCareful ? 1 : share))
    return this.isCareful || onPace <= this.#due
      ? onPace
      : this.#apart(Math.max(from, this.#due), this.#spacing * Math.min(share, catchUpShare))
  }

  get #spacing(): number {
    return spacing(this.rate) * this.#apartness
  }

  get #apartness(): number {
    return this.isCareful ? Math.max(this.#stretch, carefulStretch) : this.#stretch
  }

  #apart(from: number, apart: number): number {
    let at = Math.max(from, this.opensAt())
    for (let place = this.#firstAfter(at - apart + roundingMillis); place < this.#taken.length; place++) {
      const taken = this.#taken[place]?.at ?? at
      if (taken >= at + apart - roundingMillis) break
      if (taken > at - apart + roundingMillis) at = taken + apart
    }
    return at
  }

  /** The place of the first moment taken that is later than this. */
  #firstAfter(at: number): number {
    let [low, high] = [0, this.#taken.length]
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#taken[middle]?.at ?? at) > at) high = middle
      else low = middle + 1
    }
    return low
  }

  /** `free`: the moment that this pace alone would have given. A delay caused by another rate is not caught up with. */
  take(moment: Moment, free = moment.at): void {
    const after = this.#taken.findLastIndex(({ at }) => at <= moment.at)
    this.#taken.splice(after + 1, 0, moment)
    const last = this.#taken.at(-1)?.at ?? moment.at
    const due = Math.max(this.#due + moment.at - free, moment.at - catchUpMillis)
    this.#due = Math.min(due, last) + this.#spacing
  }

  giveBack(moment: Moment): void {
    const at = this.#taken.indexOf(moment)
    if (at < 0) return
    this.#taken.splice(at, 1)
    this.#due -= this.#spacing
  }

  /** When one more call may leave without putting too many into a rolling second, however early or late the calls before it were. */
  opensAt(): number {
    return (this.#left.at(-Math.ceil(this.rate))?.at ?? Number.NEGATIVE_INFINITY) + (1000 + networkMillis) * this.#apartness
  }

  /** Whether a call may leave now. */
  isOpen(now: number): boolean {
    return now >= this.opensAt() - slackMillis
  }

  leave(departed: Departed): void {
    this.#note(departed)
    this.#stretch = Math.max(1, this.#stretch - recovery)
  }

  /** The call has left at another time than was noted before. */
  moved(departed: Departed): void {
    const at = this.#left.indexOf(departed)
    if (at < 0) return
    this.#left.splice(at, 1)
    this.#note(departed)
  }

  #note(departed: Departed): void {
    const after = this.#left.findLastIndex(({ at }) => at <= departed.at)
    this.#left.splice(after + 1, 0, departed)
  }

  /**
   * The provider has refused a call because there were too many: it counts differently, or the network brings calls closer together. Refusals
   * within the same second count once.
   */
  slowDown(now: number): void {
    if (now < this.#slowedAt + windowMillis) return
    this.#slowedAt = now
    this.#stretch = Math.min(slowest, this.#stretch * slowing)
  }

  /** Forgets what no longer matters. True when nothing is left. */
  forget(now: number): boolean {
    const apart = this.#spacing
    if ((this.#taken[0]?.at ?? now) < now - apart) this.#taken = this.#taken.filter(({ at }) => at >= now - apart)
    const remembered = now - windowMillis * Math.max(this.#stretch, carefulStretch)
    if ((this.#left[0]?.at ?? now) < remembered) this.#left = this.#left.filter(({ at }) => at >= remembered)
    return this.#taken.length === 0 && this.#left.length === 0 && now >= this.#slowedAt + slownessMillis
  }
}
