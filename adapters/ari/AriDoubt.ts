/**
 * When a request without a reply can no longer become a call: Asterisk answered a later request so long ago that it, and whatever is on the way to it,
 * must have recovered from what delayed this one. A restart of Asterisk proves nothing: a proxy that holds the request delivers it to the new process.
 * All times are steady.
 */

/** How late Asterisk may carry out a request that it has not lost. */
const SLACK_MILLIS = 30_000
/** How long proxies and load balancers hold a request, unless they are told otherwise: nginx waits 60 s for a server. */
const HELD_MILLIS = 60_000
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
  /** When Asterisk was last found to have been restarted. */
  #restartedAt = Number.NEGATIVE_INFINITY
  #lastLeft = Number.NEGATIVE_INFINITY
  #restUntil = Number.NEGATIVE_INFINITY
  /** Sorted by time. */
  #answers: Array<Answered> = []

  /** Records the start time that Asterisk reported when asked at `askedAt`. True: Asterisk was restarted. */
  started(startedAt: string, askedAt: number): boolean {
    const isOther = this.#startedAt !== undefined && this.#startedAt !== startedAt
    if (isOther) this.#restartedAt = askedAt
    this.#startedAt = startedAt
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

  /** Whether a later request is needed as proof: none was answered, and none has left for `quietMillis`, or since Asterisk was restarted. */
  needsOvertaking(leftAt: number, now: number, quietMillis: number): boolean {
    const isOvertaken = (this.#answers.at(-1)?.left ?? Number.NEGATIVE_INFINITY) > leftAt
    const isQuiet = this.#lastLeft <= Math.max(now - quietMillis, this.#restartedAt)
    return !isOvertaken && isQuiet && this.#restUntil <= now
  }

  mayAppear(leftAt: number, ringTimeoutSeconds: number, now: number): boolean {
    if (now < leftAt + HELD_MILLIS) return true
    const longAgo = now - ringTimeoutSeconds * 1000 - SLACK_MILLIS
    const overtaking = this.#answers.findLast(({ at }) => at <= longAgo)
    return overtaking === undefined || overtaking.left <= leftAt
  }
}
