/** The pronunciations in PocketSphinx's dictionary. A decoder gets only the words of its grammars: the whole dictionary takes 24 MB. */
import { readFileSync } from "node:fs"

export interface Pronunciations {
  /** The phones of a word in lower case, once for each pronunciation; empty if the dictionary lacks the word. */
  readonly of: (word: string) => ReadonlyArray<string>
  /** Reads the dictionary, unless these words have been looked up before: it takes about 30 ms for any number of them. */
  readonly lookUp: (words: ReadonlyArray<string>) => void
}

/** Further pronunciations of a word are numbered: `either(2)`. */
const numbered = /\(\d+\)$/

/** Each line is a word and its phones. The whole text is never copied. */
const forEachEntry = (file: string, take: (word: string, phones: string) => void): void => {
  const text = readFileSync(file)
  let at = 0
  while (at < text.length) {
    const newline = text.indexOf(10, at)
    const end = newline === -1 ? text.length : newline
    const space = text.indexOf(32, at)
    if (space !== -1 && space < end) take(text.toString("latin1", at, space), text.toString("latin1", space, end))
    at = end + 1
  }
}

/** The limit of remembered words: the dictionary has 130,000, and agents may name any others. */
const mostKnown = 20_000

export const makePronunciations = (dictionary: string): Pronunciations => {
  const known = new Map<string, Array<string>>()
  return {
    of: (word) => known.get(word) ?? [],
    lookUp: (words) => {
      if (known.size > mostKnown) known.clear()
      const wanted = new Set(words.filter((word) => !known.has(word)))
      if (wanted.size === 0) return
      for (const word of wanted) known.set(word, [])
      forEachEntry(dictionary, (entry, phones) => {
        const word = entry.replace(numbered, "")
        if (wanted.has(word)) known.get(word)?.push(phones.trim())
      })
    }
  }
}
