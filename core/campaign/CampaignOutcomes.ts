/**
 * What came of a campaign's calls over time, and how many retries fall due when: counts in buckets of a minute, an hour or a day, in UTC. Only
 * buckets in which something happened are there.
 */
import type { Outcome } from "#core/outcome/Outcome.ts"

export const bucketSizes = ["minute", "hour", "day"] as const
export type BucketSize = (typeof bucketSizes)[number]

export const bucketMillis: Readonly<Record<BucketSize, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Together five hundred. */
const mostPast = 400
const mostAhead = 100

/** Times in epoch milliseconds. */
interface Buckets {
  readonly size: BucketSize
  /** Calls that ended before this are not counted. */
  readonly since: number
  /** Where the bucket of `now` begins. */
  readonly current: number
  /** Retries from here on are counted together. */
  readonly until: number
}

export interface CampaignOutcomes extends Buckets {
  /** By when the calls ended, the earliest bucket first. */
  readonly calls: ReadonlyArray<{ readonly at: number; readonly counts: Readonly<Partial<Record<Outcome, number>>> }>
  readonly retries: {
    /** They fell due before `current`'s bucket is over, or wait for their number. */
    readonly due: number
    /** Later ones, the earliest bucket first. */
    readonly ahead: ReadonlyArray<{ readonly at: number; readonly retries: number }>
    /** From `until` on. */
    readonly later: number
  }
}

/**
 * The last buckets up to `ended`, or up to now while that is undefined, and those ahead. Without a size, the smallest that shows all of the campaign's
 * time. Times in epoch milliseconds.
 */
export const bucketsOf = (
  { ended, now, started }: { readonly started: number | undefined; readonly ended: number | undefined; readonly now: number },
  wanted: BucketSize | undefined
): Buckets => {
  const last = ended ?? now
  const first = Math.min(started ?? last, last)
  const fits = (size: BucketSize) => (last - first) / bucketMillis[size] < mostPast - 1
  const size = wanted ?? bucketSizes.find(fits) ?? "day"
  const millis = bucketMillis[size]
  const floor = (at: number) => Math.floor(at / millis) * millis
  const current = floor(now)
  return {
    ...{ size, current },
    since: Math.max(floor(first), floor(last) - (mostPast - 1) * millis),
    until: current + (mostAhead + 1) * millis
  }
}
