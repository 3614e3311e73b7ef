/**
 * May we call now, and if not, when? Weekly slots in a time zone. Openness is a property of the instant: an instant has exactly one
 * local time, so nothing is ambiguous when clocks change, and edges are found by searching instants, never by adding days.
 */
import { Schema } from "effect"
import { formatterOf, isTimeZone } from "#core/TimeZone.ts"

export const ScheduleSlot = Schema.Struct({
  /** 0 is Monday, 6 is Sunday; JavaScript's `getDay` counts from Sunday. */
  dayOfWeek: Schema.Int,
  /** Local `HH:MM`, inclusive. */
  startTime: Schema.String,
  /** Local `HH:MM`, exclusive; `24:00` is the end of the day. A night shift is two slots. */
  endTime: Schema.String
})
export type ScheduleSlot = typeof ScheduleSlot.Type

export const ScheduleConfig = Schema.Struct({
  enabled: Schema.Boolean,
  /** IANA name. Offsets such as `+02:00` have no daylight rules and are refused. */
  timezone: Schema.String,
  slots: Schema.Array(ScheduleSlot)
})
export type ScheduleConfig = typeof ScheduleConfig.Type

interface ScheduleFault {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** Edges in epoch milliseconds. Undefined: no such edge in the next fortnight, which for weekly slots means never. */
export type ScheduleState =
  | { readonly open: true; readonly closesAt: number | undefined }
  | { readonly open: false; readonly opensAt: number | undefined }

export interface Schedule {
  readonly stateAt: (epochMillis: number) => ScheduleState
  /** False when this machine's time zone database lacks the zone. The schedule then stays closed, and the operator should be told. */
  readonly isZoneKnown: boolean
}

const minuteMillis = 60_000
const dayMillis = 1440 * minuteMillis
const weekMillis = 7 * dayMillis
/** A slot inside the hour that a clock change skips comes a week later: two weeks at most, and a day for zones that skip a whole one. */
const horizonMillis = 15 * dayMillis
/** Epoch 0 was a Thursday. */
const epochWeekdayMillis = 3 * dayMillis

const minutesOf = (time: string): number | undefined => {
  const match = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time)
  if (match !== null) return Number(match[1]) * 60 + Number(match[2])
  return time === "24:00" ? 1440 : undefined
}

/** All faults, by field; empty when the schedule is valid. Slots must be valid even while `enabled` is false. */
export const validate = (config: ScheduleConfig): ReadonlyArray<ScheduleFault> => [
  ...(isTimeZone(config.timezone) ? [] : [{ path: ["timezone"], message: `Invalid timezone: ${config.timezone}` }]),
  ...config.slots.flatMap((slot, index) => slotFaults(slot).map(({ message, path }) => ({ path: ["slots", index, ...path], message })))
]

const slotFaults = (slot: ScheduleSlot): ReadonlyArray<ScheduleFault> => {
  const start = minutesOf(slot.startTime)
  const end = minutesOf(slot.endTime)
  const isDay = Number.isInteger(slot.dayOfWeek) && slot.dayOfWeek >= 0 && slot.dayOfWeek <= 6
  return [
    ...(isDay ? [] : [{ path: ["dayOfWeek"], message: "day_of_week must be 0 (Monday) to 6 (Sunday)" }]),
    ...(start !== undefined && start < 1440 ? [] : [{ path: ["startTime"], message: "start_time must be a time from 00:00 to 23:59" }]),
    ...(end !== undefined ? [] : [{ path: ["endTime"], message: "end_time must be a time from 00:00 to 24:00" }]),
    ...(start !== undefined && end !== undefined && start >= end ? [{ path: [], message: "start_time must be before end_time" }] : [])
  ]
}

/** Milliseconds of the local week, `[from, until)`. */
interface Span {
  readonly from: number
  readonly until: number
}

/** A slot that does not validate opens nothing. */
const spansOf = (slots: ReadonlyArray<ScheduleSlot>): ReadonlyArray<Span> =>
  slots
    .filter((slot) => slotFaults(slot).length === 0)
    .map(({ dayOfWeek, endTime, startTime }) => ({
      from: dayOfWeek * dayMillis + (minutesOf(startTime) ?? 0) * minuteMillis,
      until: dayOfWeek * dayMillis + (minutesOf(endTime) ?? 0) * minuteMillis
    }))

/** The moments of the local week at which openness may change, sorted: where slots touch or overlap it does not. */
const edgesOf = (spans: ReadonlyArray<Span>): ReadonlyArray<number> =>
  [...new Set(spans.flatMap(({ from, until }) => [from, until % weekMillis]))].sort((a, b) => a - b)

/** Local time minus UTC at that instant. */
const offsetAt = (format: Intl.DateTimeFormat, at: number): number => {
  const seconds = Math.floor(at / 1000) * 1000
  const part = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of format.formatToParts(seconds)) {
    switch (type) {
      case "year":
      case "month":
      case "day":
      case "hour":
      case "minute":
      case "second":
        part[type] = Number(value)
    }
  }
  return Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second) - seconds
}

const localWeekMillis = (at: number, offset: number): number => (at + offset + epochWeekdayMillis) % weekMillis

/** The first instant after `from`, up to `to`, whose offset differs from that of `from`. The offset at `to` is known to differ. */
const clockChange = (format: Intl.DateTimeFormat, from: number, to: number, offset: number): number => {
  let before = from
  let after = to
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2)
    if (offsetAt(format, middle) === offset) before = middle
    else after = middle
  }
  return after
}

const isOpen = (spans: ReadonlyArray<Span>, week: number): boolean => spans.some(({ from, until }) => from <= week && week < until)

const untilEdge = (edges: ReadonlyArray<number>, week: number): number =>
  (edges.find((edge) => edge > week) ?? (edges[0] ?? 0) + weekMillis) - week

/** The first instant after `at` at which the schedule opens or closes; undefined when there is none within the horizon. */
const nextEdge = (
  format: Intl.DateTimeFormat,
  spans: ReadonlyArray<Span>,
  edges: ReadonlyArray<number>,
  at: number
): number | undefined => {
  const open = isOpen(spans, localWeekMillis(at, offsetAt(format, at)))
  let cursor = at
  while (cursor < at + horizonMillis) {
    const offset = offsetAt(format, cursor)
    const edge = cursor + untilEdge(edges, localWeekMillis(cursor, offset))
    // A day at a time: two clock changes within a day would go unseen, but no zone has had that.
    const step = Math.min(edge, cursor + dayMillis)
    const changes = offsetAt(format, step) !== offset
    cursor = changes ? clockChange(format, cursor, step, offset) : step
    if ((changes || step === edge) && isOpen(spans, localWeekMillis(cursor, offsetAt(format, cursor))) !== open) return cursor
  }
  return undefined
}

const always = (state: ScheduleState, isZoneKnown: boolean): Schedule => ({ stateAt: () => state, isZoneKnown })

/**
 * A schedule that remembers the window of its last answer: asking again within it costs two comparisons. A schedule that is missing or not
 * enabled is always open; one whose zone is unknown never is.
 */
export const compile = (config: ScheduleConfig | undefined): Schedule => {
  if (config === undefined || !config.enabled) return always({ open: true, closesAt: undefined }, true)
  const format = formatterOf(config.timezone)
  if (format === undefined) return always({ open: false, opensAt: undefined }, false)
  const spans = spansOf(config.slots)
  const edges = edgesOf(spans)
  if (edges.length === 0) return always({ open: false, opensAt: undefined }, true)

  let from = Number.POSITIVE_INFINITY
  let until = Number.NEGATIVE_INFINITY
  let state: ScheduleState = { open: false, opensAt: undefined }
  return {
    isZoneKnown: true,
    stateAt: (epochMillis) => {
      if (epochMillis >= from && epochMillis < until) return state
      const at = Math.floor(epochMillis)
      const edge = nextEdge(format, spans, edges, at)
      const open = isOpen(spans, localWeekMillis(at, offsetAt(format, at)))
      from = at
      until = edge ?? at + dayMillis
      state = open ? { open, closesAt: edge } : { open, opensAt: edge }
      return state
    }
  }
}

/** For a single question. Code that asks at every dial keeps the result of `compile`. */
export const stateAt = (config: ScheduleConfig | undefined, epochMillis: number): ScheduleState => compile(config).stateAt(epochMillis)
