/** What Asterisk sends, read with suspicion: anything that is not as expected is `undefined`. */
import { Result } from "effect"

export const parse = (text: string): unknown => Result.getOrUndefined(Result.try((): unknown => JSON.parse(text)))

/** The value at the end of a path of names. */
export const at = (value: unknown, ...path: ReadonlyArray<string>): unknown => {
  let here = value
  for (const name of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, name)) return undefined
    // Checked above: an object with this name of its own.
    here = (here as Readonly<Record<string, unknown>>)[name]
  }
  return here
}

export const textAt = (value: unknown, ...path: ReadonlyArray<string>): string | undefined => {
  const found = at(value, ...path)
  return typeof found === "string" ? found : undefined
}

export const numberAt = (value: unknown, ...path: ReadonlyArray<string>): number | undefined => {
  const found = at(value, ...path)
  return typeof found === "number" && Number.isFinite(found) ? found : undefined
}

/** Asterisk's own words in an error's body; digits are blotted out, for they may be a phone number. */
export const complaint = (body: unknown): string =>
  (textAt(body, "message") ?? textAt(body, "error") ?? "").replace(/\d{3,}/g, "#").slice(0, 120)
