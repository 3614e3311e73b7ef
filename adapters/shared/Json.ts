/** Reads what a provider sends without trusting it: anything unexpected is `undefined`. */
import { parseJson, parseJsonBytes } from "#core/parseJson.ts"

export const parse = parseJson

export const parseBytes = parseJsonBytes

/** The value at a path of names. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown => {
  let here = value
  for (const name of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, name)) return undefined
    // The cast holds because this is an object with its own member of that name.
    here = (here as Readonly<Record<string, unknown>>)[name]
  }
  return here
}

export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

/** A text of this form, such as an id that goes into paths. */
export const matchAt = (value: unknown, form: RegExp, ...path: ReadonlyArray<string>): string | undefined => {
  const found = textAt(value, ...path)
  return found !== undefined && form.test(found) ? found : undefined
}

export const numberAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

/** A time in words, such as those of ISO 8601 and RFC 2822, in epoch milliseconds. */
export const timeIn = (text = ""): number | undefined => {
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : at
}

/** Rejects a time without a zone, which would be read as local time. */
export const zonedTime = (text = ""): number | undefined =>
  /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)$/.test(text) ? timeIn(text.replace(" ", "T")) : undefined

/** A number of things or seconds that was sent as text. */
export const countIn = (text = ""): number | undefined => (/^[0-9]{1,9}$/.test(text) ? Number(text) : undefined)

/** A provider's words, for logs: what may be a phone number, however it is written, or an address is masked. */
export const masked = (words: string): string =>
  words
    .replace(/https?:\S+/g, "#")
    .replace(/\p{Nd}(?:[\s().\-/\u00a0\u2010-\u2015]*\p{Nd}){2,}/gu, "#")
    .slice(0, 120)

/** The error text of a provider's reply, masked. */
export const complaint = (body: unknown): string => masked(textAt(body, "message") ?? textAt(body, "error") ?? "")
