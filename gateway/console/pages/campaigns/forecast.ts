/** When a campaign would end if it went on as its limits allow. An estimate for people: retries and numbers that are busy are not in it. */
import type { Campaign } from "#gateway/console/base/types.ts"

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const longestDays = 366

const partsIn = (timeZone: string, at: number) => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric"
  })
  return Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
}

/** How far the zone's clocks are ahead of UTC then, in milliseconds. */
const aheadOf = (timeZone: string, at: number): number => {
  const { day = 0, hour = 0, minute = 0, month = 0, year = 0 } = partsIn(timeZone, at)
  return Date.UTC(year, month - 1, day, hour, minute) - Math.floor(at / MINUTE) * MINUTE
}

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

/** The open hours from then on, in the order of time, as epoch milliseconds. */
function* openings(schedule: Campaign["schedule_config"], from: number): Generator<readonly [start: number, end: number]> {
  if (schedule === null || !schedule.enabled) return yield [from, Number.POSITIVE_INFINITY]
  const { slots, timezone } = schedule
  const local = from + aheadOf(timezone, from)
  const firstDay = local - (((local % DAY) + DAY) % DAY)
  for (let count = 0; count < longestDays; count++) {
    const midnight = firstDay + count * DAY
    const weekday = (new Date(midnight).getUTCDay() + 6) % 7
    const today = slots.filter(({ day_of_week: day }) => day === weekday).sort((a, b) => minutesOf(a.start_time) - minutesOf(b.start_time))
    for (const { end_time, start_time } of today) {
      const [start, end] = [start_time, end_time].map((time) => {
        const wall = midnight + minutesOf(time) * MINUTE
        return wall - aheadOf(timezone, wall - aheadOf(timezone, wall))
      })
      if (start !== undefined && end !== undefined && end > from) yield [Math.max(start, from), end]
    }
  }
}

interface Course extends Pick<Campaign, "schedule_config"> {
  readonly contacts: number
  readonly perSecond: number
  readonly atOnce: number
  /** From dialing to the end, on average. */
  readonly callSeconds: number
  /** Epoch milliseconds. */
  readonly from: number
}

/** Epoch milliseconds; undefined if it would take more than a year. */
export const endOf = ({ atOnce, callSeconds, contacts, from, perSecond, schedule_config: schedule }: Course): number | undefined => {
  const perMilli = Math.min(perSecond, atOnce / callSeconds) / 1000
  if (!(perMilli > 0)) return undefined
  let left = Math.max(contacts / perMilli, callSeconds * 1000)
  for (const [start, end] of openings(schedule, from)) {
    if (start + left <= end) return start + left
    left -= end - start
  }
  return undefined
}
