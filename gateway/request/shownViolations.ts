/**
 * Bounds the size of a 422: it says enough to find what is wrong, and is never much larger than the request. Each entry repeats the value at
 * fault and its place, which are as long as the client made them; the enclosing object is repeated for each member that it lacks.
 */
import { jsonSize } from "#core/jsonSize.ts"
import type { Violation } from "./Violation.ts"

/** Limit for all entries together, in characters of JSON. */
const mostShown = 65_536
/** A larger value is not repeated. */
const mostOfInput = 2048
const mostOfContext = 2048
const mostOfText = 1000
const mostOfName = 200

export const shownViolations = (violations: ReadonlyArray<Violation>): ReadonlyArray<Violation> => {
  const shown: Array<Violation> = []
  let left = mostShown
  for (const violation of violations) {
    const entry = short(violation)
    left -= jsonSize(entry, left)
    if (left < 0 && shown.length > 0) break
    shown.push(entry)
  }
  return shown
}

const short = ({ ctx, input, loc, msg, type }: Violation): Violation => ({
  type,
  loc: loc.map((name) => (typeof name === "string" ? cut(name, mostOfName) : name)),
  msg: cut(msg, mostOfText),
  input: jsonSize(input, mostOfInput) > mostOfInput ? null : input,
  ...(ctx === undefined || jsonSize(ctx, mostOfContext) > mostOfContext ? {} : { ctx })
})

const cut = (text: string, length: number): string => (text.length <= length ? text : `${text.slice(0, length).toWellFormed()}...`)
