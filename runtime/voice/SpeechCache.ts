/** Caches recent speech up to a number of bytes; the least recently used goes first. */
import type { WordMark } from "#core/voice/WordMarks.ts"

interface Kept {
  readonly speech: Uint8Array
  /** Few enough not to be counted. */
  readonly words: ReadonlyArray<WordMark>
}

export interface SpeechCache {
  readonly get: (key: string) => Kept | undefined
  readonly set: (key: string, speech: Uint8Array, words?: ReadonlyArray<WordMark>) => void
  readonly bytes: () => number
}

export const makeSpeechCache = (maxBytes: number): SpeechCache => {
  // A map keeps the order of insertion: the first key is the oldest.
  const kept = new Map<string, Kept>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= kept.get(key)?.speech.length ?? 0
    kept.delete(key)
  }
  return {
    get: (key) => {
      const found = kept.get(key)
      if (found === undefined) return undefined
      kept.delete(key)
      kept.set(key, found)
      return found
    },
    set: (key, speech, words = []) => {
      forget(key)
      // One long speech is not worth evicting all the short ones.
      if (speech.length > maxBytes / 4) return
      kept.set(key, { speech, words })
      bytes += speech.length
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) return
        forget(oldest)
      }
    },
    bytes: () => bytes
  }
}
