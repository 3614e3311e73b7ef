/**
 * The time bounds of a list of runs. A bound is an instant, or a whole day in the organization's time zone. Both ends are
 * inclusive, and an instant means the whole millisecond, which is the precision that the API shows.
 */
import { DateTime, Option } from "effect"

type DateBound =
  | { readonly _tag: "Instant"; readonly at: Date }
  /** `2026-01-31` */
  | { readonly _tag: "Day"; readonly day: string }

export interface DateRange {
  readonly from: DateBound | undefined
  readonly to: DateBound | undefined
}

/** A span of time; an undefined end is open. */
export interface Span {
  /** Inclusive. */
  readonly from: Date | undefined
  /** Exclusive. */
  readonly until: Date | undefined
}

const isoDate = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i
const dayMillis = 86_400_000

/** Undefined if the text is not a date. A time without a zone is UTC. */
export const boundOf = (text: string): DateBound | undefined => {
  const [, day, time, , , zone] = isoDate.exec(text) ?? []
  if (day === undefined || dayOf(day) === undefined) return undefined
  if (time === undefined) return { _tag: "Day", day }
  const at = new Date(zone === undefined ? `${text}Z` : text)
  return Number.isNaN(at.getTime()) ? undefined : { _tag: "Instant", at }
}

/** The midnight in UTC at which a day such as `2026-01-31` begins; undefined if the day does not exist. */
const dayOf = (day: string): Date | undefined => {
  const midnight = new Date(`${day}T00:00:00Z`)
  return Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day ? undefined : midnight
}

/** From the first instant of the day up to the first of the next. Undefined if the day or the time zone does not exist. */
export const spanOfDay = (day: string, timeZone: string): { readonly from: Date; readonly until: Date } | undefined => {
  const midnight = dayOf(day)
  if (midnight === undefined) return undefined
  const startOf = (date: Date) =>
    Option.getOrUndefined(Option.map(DateTime.makeZoned(date, { timeZone, adjustForTimeZone: true }), DateTime.toDateUtc))
  const [from, until] = [startOf(midnight), startOf(new Date(midnight.getTime() + dayMillis))]
  return from === undefined || until === undefined ? undefined : { from, until }
}

export const namesDay = ({ from, to }: DateRange): boolean => from?._tag === "Day" || to?._tag === "Day"

/** `timeZone` must be a known one. */
export const spanOf = ({ from, to }: DateRange, timeZone: string): Span => ({
  from: from?._tag === "Day" ? spanOfDay(from.day, timeZone)?.from : from?.at,
  until: to?._tag === "Day" ? spanOfDay(to.day, timeZone)?.until : to && new Date(to.at.getTime() + 1)
})
