/**
 * `{{variables}}` in prompts, greetings and speeches: `{{ path }}`, `{{ path | default }}`, the older `{{ path | fallback:default }}`,
 * and `{{ path | fallback }}`, which says the path itself in words. A value is put in as it is: braces in it are not rendered again.
 */
import { isTimeZone } from "#core/TimeZone.ts"

/** What a template may use without any source of contacts having it. Retries alone have the last three. */
export const systemVariables: ReadonlyArray<string> = [
  "campaign_id",
  "provider",
  "source_uuid",
  "caller_number",
  "called_number",
  "direction",
  "telephony_configuration_id",
  "is_retry",
  "retry_attempt",
  "retry_reason"
]

const placeholder = /\{\{\s*([^\s|{}]+)\s*(?:\|([^{}]*))?\}\}/g
const clock = /^current_(time|weekday)(?:_(.+))?$/

/** More than anybody can say. */
const longestText = 65_536

/**
 * `now` in epoch milliseconds. `current_time` and `current_weekday` take precedence over the context; without a zone of their own they
 * are told in the first zone that the template names, else in UTC. What is missing becomes the empty string, and so does what comes after
 * 65,536 characters: a short template can ask for a long value many times over.
 */
export const render = (template: string, context: Context, now: number): string =>
  renderWithin(template, context, now, { left: longestText, clocks: new Map() })

type Context = Readonly<Record<string, unknown>>

interface Budget {
  /** So many characters may still be written; below zero it is over, and nothing more is put in. */
  left: number
  /** What the clock says, by path: to say it in a zone costs a hundred times what it costs to repeat it. */
  readonly clocks: Map<string, string | undefined>
}
/** Ways of naming a clock, in one rendering. One more is a variable like any other. */
const mostClocks = 16

const renderWithin = (template: string, context: Context, now: number, budget: Budget): string => {
  budget.left -= template.length
  if (budget.left < 0) return ""
  const text = template.replaceAll("\\n", "\n")
  const zone = firstZone(text) ?? "UTC"
  const clockAt = (path: string) => {
    const key = `${zone} ${path}`
    if (!budget.clocks.has(key) && budget.clocks.size < mostClocks) budget.clocks.set(key, clockWords(path, zone, now))
    return budget.clocks.get(key)
  }
  return text.replace(placeholder, (_, path: string, filter: string | undefined) => {
    if (budget.left < 0) return ""
    const written = writtenFor((clock.test(path) ? clockAt(path) : undefined) ?? lookup(context, path), path, filter)
    budget.left -= written.length
    return written
  })
}

const writtenFor = (value: unknown, path: string, filter: string | undefined): string => {
  if (value === undefined || value === null || value === "") return filter === undefined ? "" : fallback(path, filter.trim())
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

const deepest = 100

/**
 * A JSON value with every text in it rendered, the names of members too; what is no text stays as it is. Undefined when that would take
 * more than `limit` characters or a hundred levels.
 */
export const renderJson = (template: unknown, context: Context, now: number, limit: number): { readonly value: unknown } | undefined => {
  const budget: Budget = { left: limit, clocks: new Map() }
  const rendered = (text: string) => renderWithin(text, context, now, budget)
  const part = (value: unknown, depth: number): unknown => {
    if (depth > deepest) budget.left = -1
    if (budget.left < 0) return null
    if (typeof value === "string") return rendered(value)
    if (Array.isArray(value)) return value.map((one) => part(one, depth + 1))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [rendered(name), part(one, depth + 1)]))
  }
  const value = part(template, 0)
  return budget.left < 0 ? undefined : { value }
}

/** The names that the contact itself must bring: no dotted path, no name with a fallback, none that the system supplies. First seen first. */
export const requiredVariables = (template: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [, path = "", filter] of template.matchAll(placeholder)) {
    if (filter === undefined && !path.includes(".") && !systemVariables.includes(path) && !/^current_(time|weekday)(_|$)/.test(path)) {
      names.add(path)
    }
  }
  return [...names]
}

const fallback = (path: string, filter: string): string => {
  if (filter === "fallback") return inWords(path)
  const [, legacy] = /^fallback\s*:(.*)$/s.exec(filter) ?? []
  return legacy === undefined ? filter : legacy.trim()
}

const inWords = (path: string): string =>
  path
    .split(/[_.]+/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join(" ")
    .trim()

/** Dots walk objects, not arrays. `initial_context.x` is also plain `x`: the context is rendered with its own content as the root. */
const lookup = (context: Readonly<Record<string, unknown>>, path: string): unknown => {
  const found = walk(context, path.split("."))
  return found === undefined && path.startsWith("initial_context.") ? walk(context, path.split(".").slice(1)) : found
}

const walk = (root: unknown, names: ReadonlyArray<string>): unknown => names.reduce(memberOf, root)

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? // A non-null object that is no array can be read by name; `hasOwn` keeps prototypes out.
      (value as Readonly<Record<string, unknown>>)[name]
    : undefined

const firstZone = (template: string): string | undefined => {
  const asked = new Set<string>()
  for (const [, path = ""] of template.matchAll(placeholder)) {
    const zone = clock.exec(path)?.[2]
    if (zone === undefined || asked.has(zone)) continue
    if (asked.size === mostClocks) return undefined
    if (isTimeZone(zone)) return zone
    asked.add(zone)
  }
  return undefined
}

/** Undefined when the path is no clock, or names no zone we know: then it is a variable like any other. */
const clockWords = (path: string, defaultZone: string, now: number): string | undefined => {
  const [, kind, zone = defaultZone] = clock.exec(path) ?? []
  if (kind === undefined || !isTimeZone(zone)) return undefined
  return kind === "weekday" ? weekdayIn(zone, now) : timeIn(zone, now)
}

const weekdayIn = (timeZone: string, now: number): string => new Intl.DateTimeFormat("en-US", { timeZone, weekday: "long" }).format(now)

/** `2026-03-08 09:30:00 EDT`; a zone without letters of its own in English shows as `GMT+5:30`. */
const timeIn = (timeZone: string, now: number): string => {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    timeZoneName: "short"
  })
  const part = Object.fromEntries(format.formatToParts(now).map(({ type, value }) => [type, value]))
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second} ${part.timeZoneName}`
}
