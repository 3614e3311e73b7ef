/**
 * When to call the callee back: converts an extracted text, such as "tomorrow at half past three" or "2026-03-09T15:30", to an instant in the
 * callee's time zone. Hours without morning or evening are taken to be between 8 in the morning and 8 in the evening: nobody means the night.
 */
import { formatterOf } from "#core/TimeZone.ts"

interface CallbackTime {
  /** Epoch milliseconds. */
  readonly at: number
  /** ISO 8601 in the callee's zone, with its offset. */
  readonly local: string
}

interface LocalTime {
  readonly year: number
  /** 1 is January. */
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
}
type LocalDate = Pick<LocalTime, "year" | "month" | "day">
type TimeOfDay = Pick<LocalTime, "hour" | "minute">

const minuteMillis = 60_000
const dayMillis = 1440 * minuteMillis
/** A time further away was misheard. */
const furthestMillis = 92 * dayMillis
const longestText = 200

const words: ReadonlyMap<string, number> = new Map([
  ...["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"].map(
    (word, value) => [word, value] as const
  ),
  ...(["fifteen", "twenty", "thirty", "forty", "fifty"] as const).map((word, index) => [word, [15, 20, 30, 40, 50][index] ?? 0] as const),
  ["forty five", 45],
  ["a couple of", 2],
  ["an", 1],
  ["a", 1]
])
const wordPattern = [...words.keys()].sort((a, b) => b.length - a.length).join("|")
const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]
const months = ["january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november", "december"]

const numberOf = (text: string): number => words.get(text) ?? Number(text)

/** Undefined: the text contains no time, the time is past, or the zone is unknown. */
export const callbackOf = (text: string, now: number, timeZone: string): CallbackTime | undefined => {
  const said = text.slice(0, longestText).trim()
  if (formatterOf(timeZone) === undefined) return undefined
  const at = isoInstant(said, timeZone) ?? spokenInstant(plainOf(said), now, timeZone)
  if (at === undefined || at <= now || at - now > furthestMillis) return undefined
  return { at, local: writtenIn(timeZone, at) }
}

const plainOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/([ap])\.\s?m\.?/g, "$1m")
    .replaceAll(/o['’]?\s?clock/g, "oclock")
    .replaceAll(/[^a-z0-9:]+/g, " ")
    .trim()

const isoPattern = /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(?::\d\d(?:\.\d+)?)?\s?(Z|[+-]\d\d:?\d\d)?$/i

const isoInstant = (text: string, zone: string): number | undefined => {
  const match = isoPattern.exec(text)
  if (match === null) return undefined
  if (match[6] !== undefined) {
    const at = Date.parse(text.replace(" ", "T").replace(/\s/, ""))
    return Number.isNaN(at) ? undefined : at
  }
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0] = match.slice(1, 6).map(Number)
  return instantOf({ year, month, day, hour, minute }, zone)
}

const spokenInstant = (text: string, now: number, zone: string): number | undefined => {
  if (/\b(?:yesterday|last|ago|not)\b/.test(text)) return undefined
  const after = waitOf(text)
  if (after !== undefined) return now + after
  const today = localOf(now, zone)
  const date = dateOf(text, today)
  const time = timeOf(text)
  if (time === undefined) return undefined
  const first = instantOf({ ...(date ?? today), ...time }, zone)
  // A time without a day is the next such time.
  return date === undefined && first !== undefined && first <= now ? instantOf({ ...moved(today, 1), ...time }, zone) : first
}

const unitMillis: Readonly<Record<string, number>> = { minute: minuteMillis, hour: 60 * minuteMillis, day: dayMillis, week: 7 * dayMillis }

const waitOf = (text: string): number | undefined => {
  if (/\bin half an hour\b/.test(text)) return 30 * minuteMillis
  const [, count, unit = ""] = new RegExp(`\\bin (\\d{1,3}|${wordPattern}) (minute|hour)s?\\b`).exec(text) ?? []
  if (count === undefined) return undefined
  const half = /\band a half\b/.test(text) ? 0.5 : 0
  return (numberOf(count) + half) * (unitMillis[unit] ?? 0)
}

const dateOf = (text: string, today: LocalTime): LocalDate | undefined => {
  if (/\bday after tomorrow\b/.test(text)) return moved(today, 2)
  if (/\btomorrow\b/.test(text)) return moved(today, 1)
  if (/\b(?:today|tonight|this (?:morning|afternoon|evening))\b/.test(text)) return today
  const [, count, unit = ""] = new RegExp(`\\bin (\\d{1,2}|${wordPattern}) (day|week)s?\\b`).exec(text) ?? []
  if (count !== undefined) return moved(today, (numberOf(count) * (unitMillis[unit] ?? 0)) / dayMillis)
  return monthDayOf(text, today) ?? weekdayOf(text, today)
}

const monthDayOf = (text: string, today: LocalTime): LocalDate | undefined => {
  const names = months.join("|")
  const [, month = "", day] = new RegExp(`\\b(${names}) (?:the )?(\\d{1,2})(?:st|nd|rd|th)?\\b`).exec(text) ?? []
  const [, dayBefore, monthAfter = ""] = new RegExp(`\\b(\\d{1,2})(?:st|nd|rd|th)? (?:of )?(${names})\\b`).exec(text) ?? []
  const number = months.indexOf(day === undefined ? monthAfter : month) + 1
  if (number === 0) return undefined
  const date = { year: today.year, month: number, day: Number(day ?? dayBefore) }
  const isPast = date.month < today.month || (date.month === today.month && date.day < today.day)
  return isPast ? { ...date, year: today.year + 1 } : date
}

const weekdayOf = (text: string, today: LocalTime): LocalDate | undefined => {
  const wanted = weekdays.findIndex((name) => new RegExp(`\\b${name}\\b`).test(text))
  if (wanted < 0) return undefined
  const days = (wanted - new Date(Date.UTC(today.year, today.month - 1, today.day)).getUTCDay() + 7) % 7
  return moved(today, days === 0 ? 7 : days)
}

const moved = ({ day, month, year }: LocalDate, days: number): LocalDate => {
  const date = new Date(Date.UTC(year, month - 1, day + days))
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() }
}

/** The time that a part of the day stands for, if no hour is given. */
const dayParts: ReadonlyArray<readonly [RegExp, TimeOfDay, "am" | "pm"]> = [
  [/\bmorning\b/, { hour: 10, minute: 0 }, "am"],
  [/\bafternoon\b/, { hour: 15, minute: 0 }, "pm"],
  [/\b(?:evening|tonight)\b/, { hour: 18, minute: 0 }, "pm"]
]

const timeOf = (text: string): TimeOfDay | undefined => {
  const part = dayParts.find(([pattern]) => pattern.test(text))
  if (/\bnoon\b/.test(text)) return { hour: 12, minute: 0 }
  const clock = clockOf(text)
  if (clock === undefined) return part?.[1]
  const { hour, isExact, minute } = clock
  const named = /(?:\b|\d)(am|pm)\b/.exec(text)?.[1]
  const half = named ?? (isExact ? undefined : part?.[2])
  if (hour > 23 || minute > 59 || (half !== undefined && hour > 12)) return undefined
  if (half === undefined) return { hour: !isExact && hour < 8 ? hour + 12 : hour, minute }
  const time = { hour: (hour % 12) + (half === "pm" ? 12 : 0), minute }
  // "Three in the morning" was more likely misheard than meant.
  return named === undefined && (time.hour < 6 || time.hour > 21) ? undefined : time
}

interface Clock extends TimeOfDay {
  /** Written with 24 hours, such as 08:00 or 15:30. */
  readonly isExact: boolean
}

const clockOf = (text: string): Clock | undefined => {
  const hourWords = `\\d{1,2}|${wordPattern}`
  const past = new RegExp(`\\b(half|quarter) (past|to|after) (${hourWords})`).exec(text)
  if (past !== null) {
    const hour = numberOf(past[3] ?? "")
    const minute = past[1] === "half" ? 30 : 15
    return past[2] === "to" ? { hour: hour - 1 || 12, minute: 60 - minute, isExact: false } : { hour, minute, isExact: false }
  }
  const digits = /\b(\d{1,2}):(\d\d)/.exec(text)
  if (digits !== null) {
    const hour = Number(digits[1])
    return { hour, minute: Number(digits[2]), isExact: hour > 12 || digits[1]?.startsWith("0") === true }
  }
  const minutes = "(?: (fifteen|thirty|forty five))?"
  const spoken =
    new RegExp(`\\b(${hourWords})${minutes} ?(?:am|pm|oclock|in the)\\b`).exec(text) ??
    new RegExp(`\\b(?:at|around|about) (${hourWords})${minutes}\\b`).exec(text) ??
    new RegExp(`^(${hourWords})${minutes}$`).exec(text)
  if (spoken === null) return undefined
  const hour = numberOf(spoken[1] ?? "")
  return { hour, minute: spoken[2] === undefined ? 0 : numberOf(spoken[2]), isExact: hour > 12 }
}

const localOf = (at: number, zone: string): LocalTime & { readonly second: number } => {
  const part = Object.fromEntries((formatterOf(zone)?.formatToParts(at) ?? []).map(({ type, value }) => [type, Number(value)]))
  const { day = 0, hour = 0, minute = 0, month = 0, second = 0, year = 0 } = part
  return { year, month, day, hour, minute, second }
}

const offsetOf = (at: number, zone: string): number => {
  const { day, hour, minute, month, second, year } = localOf(at, zone)
  return Date.UTC(year, month - 1, day, hour, minute, second) - Math.floor(at / 1000) * 1000
}

/** Undefined for a date that does not exist. A time that the clocks skip is read as one hour later. */
const instantOf = ({ day, hour, minute, month, year }: LocalTime, zone: string): number | undefined => {
  const wall = Date.UTC(year, month - 1, day, hour, minute)
  const date = new Date(wall)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day || hour > 23 || minute > 59) return undefined
  const guess = wall - offsetOf(wall, zone)
  return wall - offsetOf(guess, zone)
}

const writtenIn = (zone: string, at: number): string => {
  const offset = Math.round(offsetOf(at, zone) / minuteMillis)
  const two = (value: number) => String(value).padStart(2, "0")
  const local = new Date(at + offset * minuteMillis).toISOString().slice(0, 19)
  return `${local}${offset < 0 ? "-" : "+"}${two(Math.floor(Math.abs(offset) / 60))}:${two(Math.abs(offset) % 60)}`
}
