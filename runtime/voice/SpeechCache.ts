/** Caches recent speech up to a number of bytes; the least recently used goes first. */

export interface SpeechCache {
  readonly get: (key: string) => Uint8Array | undefined
  readonly set: (key: string, speech: Uint8Array) => void
  readonly bytes: () => number
}

export const makeSpeechCache = (maxBytes: number): SpeechCache => {
  // A map keeps the order of insertion: the first key is the oldest.
  const kept = new Map<string, Uint8Array>()
  let bytes = 0
  const forget = (key: string) => {
    bytes -= kept.get(key)?.length ?? 0
    kept.delete(key)
  }
  return {
    get: (key) => {
      const speech = kept.get(key)
      if (speech === undefined) return undefined
      kept.delete(key)
      kept.set(key, speech)
      return speech
    },
    set: (key, speech) => {
      forget(key)
      // One long speech is not worth evicting all the short ones.
      if (speech.length > maxBytes / 4) return
      kept.set(key, speech)
      bytes += speech.length
      for (const oldest of kept.keys()) {
        if (bytes <= maxBytes) return
        forget(oldest)
      }
    },
    bytes: () => bytes
  }
}
