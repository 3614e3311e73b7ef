/** What a campaign's settings mean, in words. */
import type { Campaign } from "#gateway/console/base/types.ts"
import { counted, lasting } from "#gateway/console/base/words.ts"
import { hoursInWords } from "./schedule.ts"

export type Settings = Pick<Campaign, "max_concurrency" | "rate_limit" | "retry_config" | "schedule_config">

const retriesOf = ({ enabled, max_retries: most, retry_delay_seconds: seconds }: Campaign["retry_config"]): string =>
  !enabled || most === 0 ? "no retries" : `${counted(most, "retry", "retries")} after ${lasting(seconds)}`

/** `Mon to Fri 09:00 to 17:00 (Europe/Berlin), at most 20 calls at once, at most 5 a second, 2 retries after 2 min` */
export const limitsOf = ({ max_concurrency: most, rate_limit: rate, retry_config: retry, schedule_config: schedule }: Settings): string =>
  [
    hoursInWords(schedule),
    most === null ? "as many calls at once as the organization may have" : `at most ${counted(most, "call")} at once`,
    `at most ${rate} a second`,
    retriesOf(retry)
  ].join(", ")
