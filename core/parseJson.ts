/**
 * Parses JSON that came from a server or a model which nobody vouches for. A megabyte can hold half a million values, or as many levels: they would take
 * the thread tenths of a second, in which no call has audio.
 */
import { excessOf } from "./jsonBounds.ts"

/** A list of a thousand calls has fewer. */
const MOST_VALUES = 50_000
const DEEPEST = 1000
/** A text this short takes no time, whatever it holds. */
const SHORT_CHARACTERS = 2048

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Undefined for text that is not JSON, or that would take long to parse. The error is dropped, because it would quote the text. */
export const parseJson = (text: string): unknown =>
  text.length > SHORT_CHARACTERS && isTooMuch(encoder.encode(text)) ? undefined : parsed(text)

export const parseJsonBytes = (bytes: Uint8Array): unknown =>
  bytes.length > SHORT_CHARACTERS && isTooMuch(bytes) ? undefined : parsed(decoder.decode(bytes))

const isTooMuch = (bytes: Uint8Array): boolean => excessOf(bytes, { maxDepth: DEEPEST, maxValues: MOST_VALUES }) !== undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
