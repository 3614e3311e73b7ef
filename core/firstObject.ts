/** JSON objects in texts that hold more than JSON: models add fences, explanations, repetitions and special tokens. */
import { isObject, type JsonObject } from "./Json.ts"
import { parseJson } from "./parseJson.ts"

/** How many braces are tried. The text may hold thousands that begin nothing. */
const mostTries = 32

/** How far brackets have been read, so that text that arrives in pieces is read only once. */
export interface BracketScan {
  /** The next character to read. */
  at: number
  depth: number
  quote: string
  isClosed: boolean
}

/** `from`: where the first bracket opens. */
export const bracketsFrom = (from: number): BracketScan => ({ at: from, depth: 0, quote: "", isClosed: false })

/**
 * Reads on until the first bracket is closed again; `at` is then behind it. Brackets in strings do not count. Strings may have single quotes, as in
 * Python.
 */
export const readBrackets = (scan: BracketScan, text: string): void => {
  for (; scan.at < text.length && !scan.isClosed; scan.at++) {
    const letter = text.charAt(scan.at)
    if (scan.quote !== "") {
      if (letter === "\\") scan.at++
      else if (letter === scan.quote) scan.quote = ""
    } else if (letter === '"' || letter === "'") scan.quote = letter
    else if (letter === "{" || letter === "[" || letter === "(") scan.depth++
    else if (letter === "}" || letter === "]" || letter === ")") scan.isClosed = --scan.depth === 0
  }
}

/** Where the brackets that open at `from` are closed again; undefined if the text ends first. */
export const valueEnd = (text: string, from: number): number | undefined => {
  const scan = bracketsFrom(from)
  readBrackets(scan, text)
  return scan.isClosed ? scan.at : undefined
}

/** The first complete object in the text, whatever surrounds it. `read` parses it. */
export const firstObject = (text: string, read: (text: string) => unknown = parseJson): JsonObject | undefined => {
  let from = text.indexOf("{")
  for (let tries = 0; from >= 0 && tries < mostTries; tries++) {
    const end = valueEnd(text, from)
    if (end !== undefined) {
      const value = read(text.slice(from, end))
      if (isObject(value)) return value
    } else if (/^\{\s*"/.test(text.slice(from))) return undefined // Cut off: an object within it is not what was meant.
    from = text.indexOf("{", end ?? from + 1)
  }
  return undefined
}
