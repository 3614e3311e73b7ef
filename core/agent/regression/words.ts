/**
 * Compares what was said with the words of a script, regardless of case and punctuation. Each text is read once and searched in linear time,
 * because authors of scripts and agents must not be able to hold up the thread that also carries calls.
 */
import { normalForm } from "#core/normalForm.ts"

/** Written without spaces between words, so each character counts as a word. */
const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu

type Words = ReadonlyArray<string>

const wordsOf = (text: string): Words => {
  const plain = normalForm(text, "NFKC")
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(unspaced, (run) => ` ${[...run].join(" ")} `)
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, " ")
    .trim()
  return plain === "" ? [] : plain.split(" ")
}

export const hasWords = (text: string): boolean => wordsOf(text).length > 0

/** Returns a function that tells whether one of the texts contains the given words in a row. */
export const searchIn = (texts: ReadonlyArray<string>): ((words: string) => boolean) => {
  const read = texts.map(wordsOf)
  return (words) => {
    const sought = wordsOf(words)
    const borders = bordersOf(sought)
    return sought.length > 0 && read.some((text) => contains(text, sought, borders))
  }
}

/** Whether the text contains exactly these words in a row. */
export const isSaid = (words: string, text: string): boolean => searchIn([text])(words)

/** Knuth-Morris-Pratt search. */
const contains = (text: Words, sought: Words, borders: ReadonlyArray<number>): boolean => {
  let matched = 0
  for (const word of text) {
    while (matched > 0 && word !== sought[matched]) matched = borders[matched - 1] ?? 0
    if (word === sought[matched]) matched++
    if (matched === sought.length) return true
  }
  return false
}

/** For each prefix of the words: how many of its last words are also its first ones. */
const bordersOf = (words: Words): ReadonlyArray<number> => {
  const borders = [0]
  let length = 0
  for (const word of words.slice(1)) {
    while (length > 0 && word !== words[length]) length = borders[length - 1] ?? 0
    if (word === words[length]) length++
    borders.push(length)
  }
  return borders
}
