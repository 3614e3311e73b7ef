/**
 * Where a text stops being valid JSON, and what was expected there. The message of `JSON.parse` often has no position, and quotes the text,
 * which may hold secrets. Loops instead of recursing, because the text may be nested without end.
 */
interface JsonFault {
  /** In UTF-16 units from the start of the text. */
  readonly at: number
  readonly error: string
}

interface Cursor {
  readonly text: string
  at: number
}

/** Means nothing for a text that `JSON.parse` accepts. */
export const breakingPoint = (text: string): JsonFault => {
  const cursor: Cursor = { text, at: 0 }
  const open: Array<"{" | "["> = []
  while (true) {
    const fault = value(cursor, open) ?? afterValue(cursor, open)
    if (fault !== undefined) return fault
  }
}

const skipBlank = (cursor: Cursor): string | undefined => {
  while (" \t\n\r".includes(cursor.text[cursor.at] ?? "-")) cursor.at++
  return cursor.text[cursor.at]
}

const closing = { "{": "}", "[": "]" } as const

/** Reads a value, or the opening of one, which its first member or element follows. */
const value = (cursor: Cursor, open: Array<"{" | "[">): JsonFault | undefined => {
  while (true) {
    const start = skipBlank(cursor)
    if (start === '"') return string(cursor)
    if (start !== "{" && start !== "[") return scalar(cursor)
    cursor.at++
    if (skipBlank(cursor) === closing[start]) {
      cursor.at++
      return undefined
    }
    open.push(start)
    const fault = start === "{" ? key(cursor) : undefined
    if (fault !== undefined) return fault
  }
}

/** Reads the ends of objects and lists that close here, and the comma before the next value. */
const afterValue = (cursor: Cursor, open: Array<"{" | "[">): JsonFault | undefined => {
  while (true) {
    const next = skipBlank(cursor)
    const inside = open.at(-1)
    if (inside === undefined) return { at: cursor.at, error: "the end was expected" }
    if (next !== closing[inside]) {
      if (next !== ",") return { at: cursor.at, error: `a comma or ${closing[inside]} was expected` }
      cursor.at++
      return inside === "{" ? key(cursor) : undefined
    }
    cursor.at++
    open.pop()
  }
}

const key = (cursor: Cursor): JsonFault | undefined => {
  if (skipBlank(cursor) !== '"') return { at: cursor.at, error: "a name in double quotes was expected" }
  const fault = string(cursor)
  if (fault !== undefined) return fault
  if (skipBlank(cursor) !== ":") return { at: cursor.at, error: "a colon was expected" }
  cursor.at++
  return undefined
}

const literal = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y

const scalar = (cursor: Cursor): JsonFault | undefined => {
  literal.lastIndex = cursor.at
  const matched = literal.exec(cursor.text)
  if (matched === null) return { at: cursor.at, error: "a value was expected" }
  cursor.at += matched[0].length
  return undefined
}

const string = (cursor: Cursor): JsonFault | undefined => {
  const start = cursor.at
  cursor.at++
  while (true) {
    const unit = cursor.text[cursor.at]
    if (unit === undefined) return { at: start, error: "a string begins here and does not end" }
    if (unit < " ") return { at: cursor.at, error: "a control character must be escaped" }
    cursor.at++
    if (unit === '"') return undefined
    if (unit === "\\") {
      const fault = escaped(cursor)
      if (fault !== undefined) return fault
    }
  }
}

const hex = /[0-9a-fA-F]{4}/y

const escaped = (cursor: Cursor): JsonFault | undefined => {
  const unit = cursor.text[cursor.at]
  if (unit === "u") {
    hex.lastIndex = cursor.at + 1
    if (!hex.test(cursor.text)) return { at: cursor.at, error: "four hexadecimal digits were expected" }
    cursor.at += 5
    return undefined
  }
  if (unit === undefined || !'"\\/bfnrt'.includes(unit)) return { at: cursor.at - 1, error: "this is not an escape of JSON" }
  cursor.at++
  return undefined
}
