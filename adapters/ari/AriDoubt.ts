/**
 * When it is ruled out that a request without an answer still becomes a call: the Asterisk it went to is gone, or a request that left after
 * it was answered so long ago that whatever Asterisk was stuck in is over. All times are steady.
 */

/** Asterisk may be that late with a request that it has not forgotten. */
const SLACK_MILLIS = 30_000
/** Longer than any phone may ring, and its slack. */
const MEMORY_MILLIS = 660_000
/** Answers that come so close together are remembered as one. */
const GRAIN_MILLIS = 1_000

interface Answered {
  readonly since: number
  at: number
  /** The latest moment at which any request left that had been answered by then. */
  left: number
}

export class AriDoubt {
  #startedAt: string | undefined
  #aliveAt = Number.NEGATIVE_INFINITY
  /** Requests that left before went to an Asterisk that has been restarted since. */
  #restartedAfter = Number.NEGATIVE_INFINITY
  /** In order. */
  #answers: Array<Answered> = []

  /** Asterisk has answered to something that was asked at that moment. */
  alive(askedAt: number): void {
    this.#aliveAt = Math.max(this.#aliveAt, askedAt)
  }

  /** What Asterisk said, when asked at that moment, about its own start. True: it is another process than before. */
  started(startedAt: string, askedAt: number): boolean {
    const isOther = this.#startedAt !== undefined && this.#startedAt !== startedAt
    if (isOther) this.#restartedAfter = this.#aliveAt
    this.#startedAt = startedAt
    this.alive(askedAt)
    return isOther
  }

  /** A request has got Asterisk's own answer, whichever it was. */
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

  mayAppear(leftAt: number, ringTimeoutSeconds: number, now: number): boolean {
    if (leftAt < this.#restartedAfter) return false
    const longAgo = now - ringTimeoutSeconds * 1000 - SLACK_MILLIS
    const overtaking = this.#answers.findLast(({ at }) => at <= longAgo)
    return overtaking === undefined || overtaking.left <= leftAt
  }
}
