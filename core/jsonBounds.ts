/**
 * Checks that a JSON text is small enough to be parsed. `JSON.parse`, and everything that processes its result, takes time for each value;
 * one megabyte can hold half a million values, or as many levels. This is a single pass over the bytes that builds nothing and stops where a
 * bound is exceeded. It does not check the syntax.
 */
export const maxDepth = 100

export interface Bounds {
  /** Limit for values and members of objects, all levels together. */
  readonly maxValues: number
  /** 100 unless given. */
  readonly maxDepth?: number
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openList = 0x5b
const closeList = 0x5d
const openObject = 0x7b
const closeObject = 0x7d

/** Undefined: within the bounds. */
export const excessOf = (bytes: Uint8Array, { maxDepth: deepest = maxDepth, maxValues }: Bounds): "depth" | "values" | undefined => {
  let depth = 0
  let values = 1
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote) at = endOfString(bytes, at)
    else if (byte === comma) values++
    else if (byte === openList || byte === openObject) {
      values++
      if (++depth > deepest) return "depth"
    } else if (byte === closeList || byte === closeObject) depth--
    if (values > maxValues) return "values"
  }
  return undefined
}

/** The position of the quote that ends the string which begins at `start`; the end of the text if there is none. */
const endOfString = (bytes: Uint8Array, start: number): number => {
  let at = start + 1
  while (at < bytes.length && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1
  return at
}
