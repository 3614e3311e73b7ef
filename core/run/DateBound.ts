/**
 * The time bounds of a list of runs. A bound is an instant, or a day as a whole: a day of the organization's time zone. Both ends are
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

/** A span of time; an end that is undefined is open. */
export interface Span {
  /** Inclusive. */
  readonly from: Date | undefined
  /** Exclusive. */
  readonly until: Date | undefined
}

const isoDate = /^(\d{4}-\d\d-\d\d)([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i
const dayMillis = 86_400_000

/** Undefined when the text is no date. A time without a zone is UTC. */
export const boundOf = (text: string): DateBound | undefined => {
  const [, day, time, , , zone] = isoDate.exec(text) ?? []
  if (day === undefined || dayOf(day) === undefined) return undefined
  if (time === undefined) return { _tag: "Day", day }
  const at = new Date(zone === undefined ? `${text}Z` : text)
  return Number.isNaN(at.getTime()) ? undefined : { _tag: "Instant", at }
}

/** Midnight by UTC of `2026-01-31`; undefined when there is no such day. */
const dayOf = (day: string): Date | undefined => {
  const midnight = new Date(`${day}T00:00:00Z`)
  return Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day ? undefined : midnight
}

/** From the first instant of the day up to the first of the next. Undefined: no such day, or no such time zone. */
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
