/**
 * A request body as JSON. What cannot be parsed is refused with the place where it breaks off; what cannot be stored (NUL and lone
 * surrogates, which Postgres has no way to hold, and nesting without end) is refused with its path.
 */
import { Result } from "effect"
import { isStorable } from "#core/storable.ts"
import { breakingPoint } from "./jsonFault.ts"
import type { Location, Violation } from "./validation.ts"

const maxDepth = 100

export type Parsed =
  | { readonly _tag: "Value"; readonly value: unknown }
  /** No bytes, or `null`. */
  | { readonly _tag: "Empty" }
  | { readonly _tag: "Refused"; readonly violation: Violation }
  /** Not UTF-8. */
  | { readonly _tag: "Unreadable" }

const decoder = new TextDecoder("utf-8", { fatal: true })
/** Undefined when the bytes are no UTF-8. A byte order mark is dropped. */
export const decodeText = (bytes: Uint8Array): string | undefined => Result.getOrUndefined(Result.try(() => decoder.decode(bytes)))

export const parse = (bytes: Uint8Array): Parsed => {
  if (bytes.byteLength === 0) return { _tag: "Empty" }
  const text = decodeText(bytes)
  if (text === undefined) return { _tag: "Unreadable" }
  const parsed = Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(parsed)) {
    const { at, error } = breakingPoint(text)
    return refused({ type: "json_invalid", loc: ["body", at], msg: "JSON decode error", input: {}, ctx: { error } })
  }
  const value = parsed.success
  if (value === null) return { _tag: "Empty" }
  const fault = faultIn(value, 1)
  if (fault === undefined) return { _tag: "Value", value }
  return refused(fault.isDeep ? tooDeep : notStorable(["body", ...fault.path]))
}

const refused = (violation: Violation): Parsed => ({ _tag: "Refused", violation })

const tooDeep: Violation = {
  type: "recursion_loop",
  loc: ["body"],
  msg: `Input should be nested at most ${maxDepth} levels deep`,
  input: {}
}

export const notStorable = (loc: Location): Violation => ({
  type: "string_unicode",
  loc,
  msg: "Input should be a valid string, unable to parse raw data as a unicode string",
  // Not echoed: the answer could not be encoded either.
  input: ""
})

interface Fault {
  readonly path: Location
  readonly isDeep: boolean
}

const faultIn = (value: unknown, depth: number): Fault | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : { path: [], isDeep: false }
  if (typeof value !== "object" || value === null) return undefined
  if (depth > maxDepth) return { path: [], isDeep: true }
  for (const [name, part] of Object.entries(value)) {
    if (!isStorable(name)) return { path: [], isDeep: false }
    const fault = faultIn(part, depth + 1)
    if (fault !== undefined) return { ...fault, path: [Array.isArray(value) ? Number(name) : name, ...fault.path] }
  }
  return undefined
}
