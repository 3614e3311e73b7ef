/**
 * Parses a request body as JSON. A body with too many values or levels is refused before it is parsed; one that cannot be parsed, with the
 * position of the fault; one that cannot be stored (NUL and lone surrogates, which Postgres cannot hold), with the path of the text.
 */
import { Result } from "effect"
import { isStorable } from "#core/storable.ts"
import { type Bounds, excessOf, maxDepth } from "#core/jsonBounds.ts"
import { breakingPoint } from "./jsonFault.ts"
import type { Location, Violation } from "./Violation.ts"

export type Parsed =
  | { readonly _tag: "Value"; readonly value: unknown }
  /** No bytes, or `null`. */
  | { readonly _tag: "Empty" }
  | { readonly _tag: "Refused"; readonly violation: Violation }
  /** Not UTF-8. */
  | { readonly _tag: "Unreadable" }

const decoder = new TextDecoder("utf-8", { fatal: true })
/** Undefined if the bytes are not UTF-8. A byte order mark is dropped. */
const decodeText = (bytes: Uint8Array): string | undefined => Result.getOrUndefined(Result.try(() => decoder.decode(bytes)))

const parse = (bytes: Uint8Array, bounds: Bounds): Parsed => {
  if (bytes.byteLength === 0) return { _tag: "Empty" }
  const excess = excessOf(bytes, bounds)
  if (excess !== undefined) return refused(excess === "depth" ? tooDeep : tooMany(bounds))
  const text = decodeText(bytes)
  if (text === undefined) return { _tag: "Unreadable" }
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) {
    const { at, error } = breakingPoint(text)
    return refused({ type: "json_invalid", loc: ["body", at], msg: "JSON decode error", input: {}, ctx: { error } })
  }
  const value = parsed.success
  if (value === null) return { _tag: "Empty" }
  // Only an escape can produce them: a literal NUL is not JSON, and a lone surrogate is not UTF-8.
  const fault = text.includes("\\u") ? unstorableIn(value) : undefined
  return fault === undefined ? { _tag: "Value", value } : refused(notStorable(["body", ...fault]))
}

const jsonType = /^application\/(?:[a-z0-9!#$&^_.-]+\+)?json\s*(?:;|$)/i

/** A body whose content type is another than JSON is read as one text. */
export const parseAs = (contentType: string | undefined, bytes: Uint8Array, bounds: Bounds): Parsed => {
  if (contentType === undefined || jsonType.test(contentType) || bytes.byteLength === 0) return parse(bytes, bounds)
  const text = decodeText(bytes)
  return text === undefined ? { _tag: "Unreadable" } : { _tag: "Value", value: text }
}

const refused = (violation: Violation): Parsed => ({ _tag: "Refused", violation })

const tooDeep: Violation = {
  type: "recursion_loop",
  loc: ["body"],
  msg: `Input should be nested at most ${maxDepth} levels deep`,
  input: {}
}

const tooMany = ({ maxValues }: Bounds): Violation => ({
  type: "too_long",
  loc: ["body"],
  msg: `Input should have at most ${maxValues} values and members`,
  input: {},
  ctx: { max_length: maxValues }
})

export const notStorable = (loc: Location): Violation => ({
  type: "string_unicode",
  loc,
  msg: "Input should be a valid string, unable to parse raw data as a unicode string",
  // Not echoed: the answer could not be encoded either.
  input: ""
})

/** The path of the first text that cannot be stored; for a member's name, the path of its object. */
const unstorableIn = (value: unknown): Location | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : []
  if (Array.isArray(value)) return firstIn(value.keys(), (index) => unstorableIn(value[index]))
  if (typeof value !== "object" || value === null) return undefined
  const names = Object.keys(value)
  return names.every(isStorable) ? firstIn(names, (name) => unstorableIn(Reflect.get(value, name))) : []
}

const firstIn = <Name extends string | number>(
  names: Iterable<Name>,
  faultAt: (name: Name) => Location | undefined
): Location | undefined => {
  for (const name of names) {
    const fault = faultAt(name)
    if (fault !== undefined) return [name, ...fault]
  }
  return undefined
}
