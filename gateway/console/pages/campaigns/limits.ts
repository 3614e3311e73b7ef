/** What a campaign's settings mean, in words. */
import type { Campaign } from "#gateway/console/base/types.ts"

type Settings = Pick<Campaign, "max_concurrency" | "rate_limit" | "retry_config" | "schedule_config">

const dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

const windowsOf = (schedule: Campaign["schedule_config"]): string => {
  if (schedule === null || !schedule.enabled) return "At any time"
  const windows = schedule.slots.map(
    ({ day_of_week: day, end_time: end, start_time: start }) => `${dayNames[day] ?? "?"} ${start} to ${end}`
  )
  return `${windows.join(", ")} (${schedule.timezone})`
}

const retriesOf = ({ enabled, max_retries: most, retry_delay_seconds: seconds }: Campaign["retry_config"]): string =>
  !enabled || most === 0 ? "no retries" : `${most} ${most === 1 ? "retry" : "retries"} after ${seconds} s`

/** `Mon 09:00 to 17:00 (Europe/Berlin), at most 20 calls at once, at most 5 a second, 2 retries after 120 s` */
export const limitsOf = ({ max_concurrency: most, rate_limit: rate, retry_config: retry, schedule_config: schedule }: Settings): string =>
  [
    windowsOf(schedule),
    most === null ? "as many calls at once as the organization may have" : `at most ${most} calls at once`,
    `at most ${rate} a second`,
    retriesOf(retry)
  ].join(", ")
