/**
 * `{{variables}}` in prompts, greetings and speeches: `{{ path }}`, `{{ path | default }}`, the older `{{ path | fallback:default }}`,
 * and `{{ path | fallback }}`, which renders the path itself in words. Values are inserted verbatim: braces in them are not rendered again.
 */
import { jsonSize } from "#core/jsonSize.ts"
import { isTimeZone } from "#core/TimeZone.ts"

/** Variables that the engine supplies, so no contact has to bring them. The last three exist only in retries. */
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

export const placeholder = /\{\{\s*([^\s|{}]+)\s*(?:\|([^{}]*))?\}\}/g
const clock = /^current_(time|weekday)(?:_(.+))?$/

/** Longer than any text that can be spoken. */
const longestText = 65_536

/**
 * Renders a template at `now`, in epoch milliseconds. `current_time` and `current_weekday` take precedence over the context; without a zone of
 * their own they use the first zone that the template names, or else UTC. Missing values render as the empty string, and so does a
 * template longer than 65,536 characters. Once the text reaches that length nothing more is inserted, because a short template can ask for a long
 * value many times.
 */
export const render = (template: string, context: Context, now: number): string =>
  renderWithin(template, context, now, { left: longestText, clocks: new Map() })

type Context = Readonly<Record<string, unknown>>

interface Budget {
  /** The characters that may still be written. Below zero, nothing more is inserted. */
  left: number
  /** The rendered clock texts by zone and path: formatting one costs a hundred times as much as reusing it. */
  readonly clocks: Map<string, string | undefined>
}
/** The number of different clock variables in one rendering. Any further one is looked up like an ordinary variable. */
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
    const written = writtenFor((clock.test(path) ? clockAt(path) : undefined) ?? valueAt(context, path), path, filter)
    budget.left -= written.length
    return written
  })
}

const writtenFor = (value: unknown, path: string, filter: string | undefined): string => {
  if (value === undefined || value === null || value === "") return filter === undefined ? "" : fallback(path, filter.trim())
  return typeof value === "object" ? JSON.stringify(value) : String(value)
}

const deepest = 100
const sole = /^\s*\{\{\s*([^\s|{}]+)\s*(?:\|[^{}]*)?\}\}\s*$/

/**
 * Renders every string in a JSON value, including member names; other values stay as they are. Returns undefined when the result would exceed
 * `limit` characters or a hundred levels.
 */
export const renderJson = (template: unknown, context: Context, now: number, limit: number): { readonly value: unknown } | undefined =>
  renderedJson(template, context, now, limit, false)

/** Like `renderJson`, but a string that is nothing but one placeholder becomes the value itself, of whatever type. */
export const renderTypedJson = (template: unknown, context: Context, now: number, limit: number): { readonly value: unknown } | undefined =>
  renderedJson(template, context, now, limit, true)

const renderedJson = (template: unknown, context: Context, now: number, limit: number, keepsTypes: boolean) => {
  const budget: Budget = { left: limit, clocks: new Map() }
  const rendered = (text: string) => renderWithin(text, context, now, budget)
  const typed = (text: string): unknown => {
    const path = keepsTypes ? sole.exec(text)?.[1] : undefined
    const value = path === undefined ? undefined : valueAt(context, path)
    if (value === undefined || value === null || typeof value === "string") return rendered(text)
    budget.left -= jsonSize(value, limit)
    return value
  }
  const part = (value: unknown, depth: number): unknown => {
    if (depth > deepest) budget.left = -1
    if (budget.left < 0) return null
    if (typeof value === "string") return typed(value)
    if (Array.isArray(value)) return value.map((one) => part(one, depth + 1))
    if (typeof value !== "object" || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [rendered(name), part(one, depth + 1)]))
  }
  const value = part(template, 0)
  return budget.left < 0 ? undefined : { value }
}

/** The variables that each contact must bring, in order of appearance: no dotted path, none with a fallback, none that the engine supplies. */
export const requiredVariables = (template: string): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const [, path = "", filter] of template.matchAll(placeholder)) {
    if (filter === undefined && !path.includes(".") && !systemVariables.includes(path) && !/^current_(time|weekday)(_|$)/.test(path)) {
      names.add(path)
    }
  }
  return [...names]
}

/** The variables that a template inserts, without those of the engine: of `{{ initial_context.x }}` and `{{ x.y }}`, it is `x`. */
export const variablesIn = (template: string): ReadonlyArray<string> =>
  [...template.matchAll(placeholder)].flatMap(([, path = ""]) => path.replace(/^initial_context\./, "").split(".")[0] ?? [])

/** What a placeholder with this filter shows in place of a missing value. */
export const fallback = (path: string, filter: string): string => {
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

/** Dots descend into objects, not arrays. `initial_context.x` also finds plain `x`, because the context itself is the root. */
export const valueAt = (context: Context, path: string): unknown => {
  const found = walk(context, path.split("."))
  return found === undefined && path.startsWith("initial_context.") ? walk(context, path.split(".").slice(1)) : found
}

const walk = (root: unknown, names: ReadonlyArray<string>): unknown => names.reduce(memberOf, root)

const memberOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.hasOwn(value, name)
    ? // The cast holds for a non-null object that is no array; `hasOwn` keeps prototypes out.
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

/** Returns undefined when the path is no clock or names an unknown zone; it is then an ordinary variable. */
const clockWords = (path: string, defaultZone: string, now: number): string | undefined => {
  const [, kind, zone = defaultZone] = clock.exec(path) ?? []
  if (kind === undefined || !isTimeZone(zone)) return undefined
  return kind === "weekday" ? weekdayIn(zone, now) : timeIn(zone, now)
}

const weekdayIn = (timeZone: string, now: number): string => new Intl.DateTimeFormat("en-US", { timeZone, weekday: "long" }).format(now)

/** Formats as `2026-03-08 09:30:00 EDT`; a zone without an English abbreviation shows as `GMT+5:30`. */
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
