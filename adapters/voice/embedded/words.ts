/** Sentences as words that can be compared. */

const figure = "zero|oh|one|two|three|four|five|six|seven|eight|nine|hundred|thousand|double|triple|\\d"
/** `No one told me`, but not `no, one two three`. */
const noOne = new RegExp(`\\bno one\\b(?! (?:${figure}))`, "g")

/** The words in lower case, without punctuation: `Don't call at 3pm!` becomes `dont call at 3 pm`. */
export const wordsOf = (text: string): ReadonlyArray<string> =>
  text
    .toLowerCase()
    .replaceAll(/['’]/g, "")
    .replaceAll(noOne, "nobody")
    .replaceAll(/\b([ap])(?:\.\s?| )m\b\.?/g, "$1m")
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
    .replaceAll(/(\d)(am|pm)\b/g, "$1 $2")
    .match(/\d{1,2}:\d\d|\d+\.\d+|[\p{L}\d]+/gu) ?? []

/** Removes common endings: `cancelled`, `cancels` and `cancelling` all become `cancel`. */
export const stemOf = (word: string): string => {
  if (word.length < 5) return word
  const stem = word.replace(/(?:ing|ed|ies|es|s|ly|ation)$/, "")
  const base = stem.length < 3 ? word : stem
  return base.replace(/([^aeiouls])\1$|(l)l$|[ey]$/, "$1$2")
}
export const stemsOf = (text: string): ReadonlyArray<string> => wordsOf(text).map(stemOf)

/** Where the phrase begins in the words, at or after a place; -1 if it does not occur. */
export const placeOf = (words: ReadonlyArray<string>, phrase: ReadonlyArray<string>, from = 0): number => {
  for (let at = from; at + phrase.length <= words.length; at++) {
    let same = 0
    while (same < phrase.length && words[at + same] === phrase[same]) same++
    if (same === phrase.length) return at
  }
  return -1
}

/** The texts in quotation marks. */
export const quotedIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/["“”]([^"“”]{2,500})["“”]/g)].flatMap(([, quoted = ""]) => (quoted.trim() === "" ? [] : [quoted.trim()]))
