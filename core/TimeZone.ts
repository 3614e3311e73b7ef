/** IANA time zones, as this machine's time zone database has them. */
import { Result } from "effect"

// Creating a formatter costs a hundred times as much as using it. Names are case-insensitive, so the number of spellings is unbounded.
const formatters = new Map<string, Intl.DateTimeFormat>()
const formattersKept = 1000

/** The formatter that writes an instant as local time; undefined if the zone is unknown. */
export const formatterOf = (timezone: string): Intl.DateTimeFormat | undefined => {
  const kept = formatters.get(timezone)
  if (kept !== undefined || !/^[A-Za-z]/.test(timezone)) return kept
  const made = Result.getOrUndefined(
    Result.try(
      () =>
        new Intl.DateTimeFormat("en-US", {
          timeZone: timezone,
          hourCycle: "h23",
          year: "numeric",
          month: "numeric",
          day: "numeric",
          hour: "numeric",
          minute: "numeric",
          second: "numeric"
        })
    )
  )
  if (made === undefined) return undefined
  if (formatters.size >= formattersKept) formatters.clear()
  formatters.set(timezone, made)
  return made
}

/** Whether this machine's time zone database has the zone under that name, links and aliases included. */
export const isTimeZone = (name: string): boolean => formatterOf(name) !== undefined
