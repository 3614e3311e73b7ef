/** JSON objects as clients send them, what is in them, and changed copies of them. */

export type JsonObject = Readonly<Record<string, unknown>>
export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

/** An object in an object; undefined if it has none of that name. */
export const partIn = (whole: unknown, name: string): JsonObject | undefined => {
  const part = isObject(whole) && Object.hasOwn(whole, name) ? whole[name] : undefined
  return isObject(part) ? part : undefined
}
/** A text in an object, trimmed; undefined if it has none of that name, or a blank one. */
export const textIn = (whole: unknown, name: string): string | undefined => {
  const text = isObject(whole) && Object.hasOwn(whole, name) ? whole[name] : undefined
  return typeof text === "string" && text.trim() !== "" ? text.trim() : undefined
}

/**
 * The object with each member replaced by what `change` returns. Whole graphs are searched for a few parts to change, so an object without
 * changes is returned as it is, not copied.
 */
export const withMembers = (part: JsonObject, change: (name: string, value: unknown) => unknown): JsonObject => {
  const changed = new Map<string, unknown>()
  for (const name of Object.keys(part)) {
    const next = change(name, part[name])
    if (next !== part[name]) changed.set(name, next)
  }
  // Not assigned one by one: a key named `__proto__` would set the prototype.
  return changed.size === 0
    ? part
    : Object.fromEntries(Object.keys(part).map((name) => [name, changed.has(name) ? changed.get(name) : part[name]]))
}

/** Like `withMembers`, for the items of a list. */
export const withItems = (items: ReadonlyArray<unknown>, change: (item: unknown, index: number) => unknown): ReadonlyArray<unknown> => {
  let changed: Array<unknown> | undefined
  for (const [index, item] of items.entries()) {
    const next = change(item, index)
    if (next === item) continue
    changed ??= [...items]
    changed[index] = next
  }
  return changed ?? items
}
