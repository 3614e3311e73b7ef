/**
 * Members of assistant messages and tool calls that are not part of the protocol. Their service wants them back as they were: Gemini its signatures
 * (https://ai.google.dev/gemini-api/docs/thought-signatures), DeepSeek its reasoning (https://api-docs.deepseek.com/guides/thinking_mode).
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import { jsonSize } from "#core/jsonSize.ts"

/** In characters as JSON. */
const mostMembers = 65_536
/** More would be too deep to be written again. */
const deepest = 64
/** A text of this length does not come twice by chance: it is repeated, not continued. */
const longText = 20

/** A member after the next piece of it: texts and lists are continued, objects completed, and anything else is replaced. */
const continued = (before: unknown, next: unknown): unknown => {
  if (next === undefined || next === null) return before
  if (typeof before === "string" && typeof next === "string") return before === next && next.length >= longText ? before : before + next
  if (Array.isArray(before) && Array.isArray(next)) return next.reduce<ReadonlyArray<unknown>>(withItem, before)
  return isObject(before) && isObject(next) ? completed(before, next) : next
}

/** Items with an index are continued. */
const withItem = (before: ReadonlyArray<unknown>, item: unknown): ReadonlyArray<unknown> => {
  const index = isObject(item) && typeof item["index"] === "number" ? item["index"] : undefined
  const at = index === undefined ? -1 : before.findIndex((one) => isObject(one) && one["index"] === index)
  return at < 0 ? [...before, item] : before.map((one, place) => (place === at ? { ...objectOf(continued(one, item)), index } : one))
}
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})

const completed = (before: JsonObject, next: JsonObject): JsonObject => {
  const members = new Map(Object.entries(before))
  for (const [name, value] of Object.entries(next)) {
    const whole = continued(members.get(name), value)
    if (whole !== undefined) members.set(name, whole)
  }
  // Not assigned one by one: a key named `__proto__` would set the prototype.
  return Object.fromEntries(members)
}

/** The members so far, with those of the next piece. `known`: the names that are part of the protocol. */
export const withUnknown = (before: JsonObject, piece: unknown, known: ReadonlyArray<string>): JsonObject => {
  const unknown = isObject(piece) ? Object.entries(piece).filter(([name, value]) => value !== null && !known.includes(name)) : []
  return unknown.length === 0 ? before : completed(before, Object.fromEntries(unknown))
}

const isShallow = (value: unknown, levels: number): boolean =>
  typeof value !== "object" || value === null || (levels > 0 && Object.values(value).every((member) => isShallow(member, levels - 1)))

/** Undefined if there are none, or more than could be sent with each request. */
export const keptMembers = (members: JsonObject): JsonObject | undefined =>
  Object.keys(members).length === 0 || !isShallow(members, deepest) || jsonSize(members, mostMembers) > mostMembers ? undefined : members
