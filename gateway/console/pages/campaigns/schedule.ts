/** A campaign's calling hours as people enter them: hours of several days at once. */
import type { Campaign } from "#gateway/console/base/types.ts"

type Schedule = Campaign["schedule_config"]
type Slot = NonNullable<Schedule>["slots"][number]

/** 0 is Monday. */
export const dayNames = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]

export interface Hours {
  readonly days: ReadonlyArray<number>
  /** `HH:MM`; `until` is not included. */
  readonly from: string
  readonly until: string
}

export const officeHours: Hours = { days: [0, 1, 2, 3, 4], from: "09:00", until: "17:00" }

export const hoursOf = (slots: ReadonlyArray<Slot>): ReadonlyArray<Hours> =>
  [...Map.groupBy(slots, ({ end_time, start_time }) => `${start_time} ${end_time}`).values()].map((same) => ({
    days: same.map(({ day_of_week: day }) => day).sort((one, other) => one - other),
    from: same[0]?.start_time ?? "",
    until: same[0]?.end_time ?? ""
  }))

export const slotsOf = (hours: ReadonlyArray<Hours>): Array<Slot> =>
  hours.flatMap(({ days, from, until }) => days.map((day) => ({ day_of_week: day, start_time: from, end_time: until })))

/** `Mon to Fri`, `Mon, Wed` */
const daysInWords = (days: ReadonlyArray<number>): string => {
  const sorted = [...new Set(days)].sort((one, other) => one - other)
  const parts: Array<[first: number, last: number]> = []
  for (const day of sorted) {
    const open = parts.at(-1)
    if (open !== undefined && open[1] === day - 1) open[1] = day
    else parts.push([day, day])
  }
  const name = (day: number) => dayNames[day] ?? "?"
  return parts
    .map(([first, last]) =>
      first === last ? name(first) : last === first + 1 ? `${name(first)}, ${name(last)}` : `${name(first)} to ${name(last)}`
    )
    .join(", ")
}

/** `Mon to Fri 09:00 to 17:00 (Europe/Berlin)` */
export const hoursInWords = (schedule: Schedule): string => {
  if (schedule === null || !schedule.enabled) return "At any time"
  const hours = hoursOf(schedule.slots).map(({ days, from, until }) => `${daysInWords(days)} ${from} to ${until}`)
  return `${hours.join(", ")} (${schedule.timezone})`
}
