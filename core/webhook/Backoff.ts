/** When a failed delivery to a webhook endpoint is retried: soon at first, then over about three days, then never. */

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** The wait after the first failure, after the second, and so on. */
const waits = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR] as const
/** The fraction by which a wait is shortened or lengthened, so that deliveries that failed together are not retried together. */
const JITTER = 0.1
const LONGEST_RETRY_AFTER = 24 * HOUR

export const triesInAll = waits.length + 1

interface Failed {
  /** Tries so far, all failed. */
  readonly tries: number
  /** A random number from 0 to 1, for the jitter. */
  readonly chance: number
  /** The delay that the endpoint asked for with `Retry-After`. */
  readonly retryAfterMillis: number | undefined
}

/** Milliseconds until the next try; undefined after the last one. An endpoint can ask for a longer wait, up to a day, but not a shorter one. */
export const nextTryIn = ({ chance, retryAfterMillis, tries }: Failed): number | undefined => {
  const wait = waits[tries - 1]
  if (wait === undefined) return undefined
  const jittered = Math.round(wait * (1 - JITTER + 2 * JITTER * chance))
  return Math.max(jittered, Math.min(retryAfterMillis ?? 0, LONGEST_RETRY_AFTER))
}

/** Milliseconds to wait according to a `Retry-After` header, which holds seconds or a date. Undefined if it holds neither. */
export const retryAfterOf = (header: string, now: number): number | undefined => {
  if (/^\d{1,9}$/.test(header)) return Number(header) * SECOND
  const date = /[a-z]/i.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const LONGEST_PAUSE = MINUTE

/** How long an endpoint rests after consecutive failed turns, so that it does not keep others waiting: 1 s to 1 min; 0 after a success. */
export const pauseAfter = (failures: number): number =>
  failures === 0 ? 0 : Math.min(SECOND * 2 ** Math.min(failures - 1, 10), LONGEST_PAUSE)
