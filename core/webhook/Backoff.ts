/** When a webhook that was not taken is sent again: soon at first, then over three days, then never. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** After the first failure, the second, and so on. */
const waits = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR] as const
/** Of the wait, in both directions: what failed together does not come back together. */
const JITTER = 0.1
const LONGEST_RETRY_AFTER = 24 * HOUR

export const triesInAll = waits.length + 1

interface Failed {
  /** Tries so far, all failed. */
  readonly tries: number
  /** From 0 to 1. */
  readonly chance: number
  /** What the endpoint asked for. */
  readonly retryAfterMillis: number | undefined
}

/** Milliseconds to the next try; undefined: it was the last one. An endpoint can ask for later, up to a day, never for sooner. */
export const nextTryIn = ({ chance, retryAfterMillis, tries }: Failed): number | undefined => {
  const wait = waits[tries - 1]
  if (wait === undefined) return undefined
  const jittered = Math.round(wait * (1 - JITTER + 2 * JITTER * chance))
  return Math.max(jittered, Math.min(retryAfterMillis ?? 0, LONGEST_RETRY_AFTER))
}

/** Of a `Retry-After` header: seconds or a date. Undefined when it is neither. */
export const retryAfterOf = (header: string, now: number): number | undefined => {
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND
  const date = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const LONGEST_PAUSE = MINUTE

/** How long an endpoint rests after so many turns in a row that failed, so that it does not keep others waiting: 1 s to 1 min. */
export const pauseAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(SECOND * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE)
