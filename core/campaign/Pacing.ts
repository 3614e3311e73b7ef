/**
 * How far apart calls leave. Each takes a moment of its own in advance; a moment is given back when nobody leaves at it, and moved when
 * somebody comes late. Knows no clock: its owner gives the time, steady time, in milliseconds.
 */

/** Taken off the rate where nothing is late. */
const marginMillis = 30

/**
 * Kept of the margin by each call, however late the ones before it were, so that two requests which the network brings closer together still
 * keep the rate at the callee's end. The rest of the margin lets those behind a late call catch up.
 */
const networkMillis = 25

/** How much of that a request may use up between its last look at the rate and its first byte. */
const slackMillis = 10

/** No more time than this is caught up with: what lies further back was no hurry. */
const catchUpMillis = 100

/** Of the spacing: the distance of calls that catch up. */
const catchUpShare = 0.5

/** Who comes later than this after a moment has missed it, and goes between two others. */
export const lateMillis = 10

/** Most contacts that one turn claims. */
export const claimLimit = 50

const windowMillis = 1000 + marginMillis
const roundingMillis = 1e-6

/** Milliseconds between two moments at `rate` dial requests per second. */
export const spacing = (rate: number): number => windowMillis / rate

/** Kept by every rate that the call is under. */
export interface Moment {
  readonly at: number
}

/** When a call left, or at the latest may have. */
export interface Departed {
  at: number
}

export class Pace {
  /** Dial requests per second. */
  rate: number
  /** Ascending: moments that are taken, and those of the past that others must keep their distance from. */
  #taken: Array<Moment> = []
  /** When calls really left, ascending: those that a rolling second still holds. */
  #left: Array<Departed> = []
  /** When the next moment would be if none before it had been late. Never ahead of the moments that are taken. */
  #due = Number.POSITIVE_INFINITY

  constructor(rate: number) {
    this.rate = rate
  }

  /**
   * The first moment from `from` on that is nobody's, a spacing away from those of others; `share` of it will do for who is late. Where
   * moments were taken late, the next ones are closer together until that is caught up with.
   */
  free(from: number, share = 1): number {
    const onPace = this.#apart(from, spacing(this.rate) * share)
    return onPace <= this.#due ? onPace : this.#apart(Math.max(from, this.#due), spacing(this.rate) * Math.min(share, catchUpShare))
  }

  #apart(from: number, apart: number): number {
    let at = Math.max(from, this.opensAt())
    for (const taken of this.#taken) {
      if (taken.at >= at + apart - roundingMillis) break
      if (taken.at > at - apart + roundingMillis) at = taken.at + apart
    }
    return at
  }

  /** `free`: the moment that this pace alone would have given. What another rate keeps back is not caught up with. */
  take(moment: Moment, free = moment.at): void {
    const after = this.#taken.findLastIndex(({ at }) => at <= moment.at)
    this.#taken.splice(after + 1, 0, moment)
    const last = this.#taken.at(-1)?.at ?? moment.at
    const due = Math.max(this.#due + moment.at - free, moment.at - catchUpMillis)
    this.#due = Math.min(due, last) + spacing(this.rate)
  }

  giveBack(moment: Moment): void {
    const at = this.#taken.indexOf(moment)
    if (at < 0) return
    this.#taken.splice(at, 1)
    this.#due -= spacing(this.rate)
  }

  /** When one more may leave without a rolling second that holds too many, however early or late the ones before it were. */
  opensAt(): number {
    return (this.#left.at(-Math.ceil(this.rate))?.at ?? Number.NEGATIVE_INFINITY) + 1000 + networkMillis
  }

  /** Whether one may leave in this very instant. */
  isOpen(now: number): boolean {
    return now >= this.opensAt() - slackMillis
  }

  leave(departed: Departed): void {
    this.#left.push(departed)
  }

  /** Forgets what no longer matters; true when nothing is left that does. */
  forget(now: number): boolean {
    const apart = spacing(this.rate)
    if ((this.#taken[0]?.at ?? now) < now - apart) this.#taken = this.#taken.filter(({ at }) => at >= now - apart)
    if ((this.#left[0]?.at ?? now) < now - windowMillis) this.#left = this.#left.filter(({ at }) => at >= now - windowMillis)
    return this.#taken.length === 0 && this.#left.length === 0
  }
}
