/**
 * When a request without a reply can no longer become a call: the Asterisk process that it went to is gone, or Asterisk answered a later request
 * so long ago that it must have recovered from whatever delayed this one. All times are steady.
 */

/** How late Asterisk may carry out a request that it has not lost. */
const SLACK_MILLIS = 30_000
/** Longer than the longest ring timeout and its slack together. */
const MEMORY_MILLIS = 660_000
/** Replies closer together than this are stored as one. */
const GRAIN_MILLIS = 1_000

interface Answered {
  readonly since: number
  at: number
  /** The latest departure of the requests that were answered by then. */
  left: number
}

export class AriDoubt {
  #startedAt: string | undefined
  #aliveAt = Number.NEGATIVE_INFINITY
  /** Requests that left before this went to an Asterisk that has been restarted since. */
  #restartedAfter = Number.NEGATIVE_INFINITY
  #lastLeft = Number.NEGATIVE_INFINITY
  #restUntil = Number.NEGATIVE_INFINITY
  /** Sorted by time. */
  #answers: Array<Answered> = []

  /** Asterisk has answered something that was asked at `askedAt`. */
  alive(askedAt: number): void {
    this.#aliveAt = Math.max(this.#aliveAt, askedAt)
  }

  /** Records the start time that Asterisk reported when asked at `askedAt`. True: Asterisk was restarted. */
  started(startedAt: string, askedAt: number): boolean {
    const isOther = this.#startedAt !== undefined && this.#startedAt !== startedAt
    if (isOther) this.#restartedAfter = this.#aliveAt
    this.#startedAt = startedAt
    this.alive(askedAt)
    return isOther
  }

  /** Asterisk itself has answered a request, with any result. */
  answered(leftAt: number, at: number): void {
    const last = this.#answers.at(-1)
    const left = Math.max(leftAt, last?.left ?? leftAt)
    if (last !== undefined && at - last.since < GRAIN_MILLIS) {
      last.at = at
      last.left = left
      return
    }
    this.#answers.push({ since: at, at, left })
    while ((this.#answers[1]?.at ?? at) < at - MEMORY_MILLIS) this.#answers.shift()
  }

  /** The first byte of a request is being written. */
  left(at: number): void {
    this.#lastLeft = at
  }

  /** Asterisk, or a proxy, asked for no requests before then. */
  restUntil(at: number): void {
    this.#restUntil = Math.max(this.#restUntil, at)
  }

  /** Whether a later request is needed as proof: none was answered, no restart was seen, and none has left for `quietMillis`. */
  needsOvertaking(leftAt: number, now: number, quietMillis: number): boolean {
    const isOvertaken = (this.#answers.at(-1)?.left ?? Number.NEGATIVE_INFINITY) > leftAt
    return !isOvertaken && leftAt >= this.#restartedAfter && this.#lastLeft <= now - quietMillis && this.#restUntil <= now
  }

  mayAppear(leftAt: number, ringTimeoutSeconds: number, now: number): boolean {
    if (leftAt < this.#restartedAfter) return false
    const longAgo = now - ringTimeoutSeconds * 1000 - SLACK_MILLIS
    const overtaking = this.#answers.findLast(({ at }) => at <= longAgo)
    return overtaking === undefined || overtaking.left <= leftAt
  }
}
