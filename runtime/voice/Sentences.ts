/**
 * Splits a text into the pieces in which it is spoken: sentences, or the parts between commas of a very long one. Pieces recur where whole
 * texts do not: two contacts' greetings differ in a name and an amount. A full stop that may belong to an abbreviation does not end a piece,
 * because two sentences in one piece sound right, and half a sentence does not.
 */

/** Maximum characters of a piece: about ten seconds of speech. */
const maxPiece = 160
/** A part between two commas that is shorter is not a piece of its own. */
const minPiece = 40

const abbreviations = new Set(
  [
    "mr mrs ms dr prof rev hon gen col capt lt sgt st ave blvd rd apt no nr vs etc inc ltd co corp jr sr dept est approx ext tel",
    "e.g i.e a.m p.m u.s u.k ph.d jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thurs fri sat sun"
  ]
    .join(" ")
    .split(" ")
)

/** Full stops and other ends, all of them, closing quotes and brackets, and the space before the next sentence. */
const stop = /(?<![.!?…])([.!?…]+)["'”’)\]]*\s+(?=(\S))/g
/** A longer word is no abbreviation, with whatever it is quoted. */
const longestAbbreviation = 16

/** Matches `Dr`, `a.m`, and the `J` of `J. Smith`. */
const isAbbreviation = (before: string): boolean => {
  const word = before.slice(before.lastIndexOf(" ") + 1).replace(/^["'“‘([]+/, "")
  return /^[A-Z]$/.test(word) || abbreviations.has(word.toLowerCase())
}

const endsSentence = (text: string, at: number, stops: string, next: string): boolean => {
  if (stops.includes("!") || stops.includes("?")) return !/[a-z]/.test(next)
  return !/[a-z]/.test(next) && !(stops === "." && isAbbreviation(text.slice(Math.max(0, at - longestAbbreviation), at)))
}

/** Cuts `text` at each of these positions. */
const cutAt = (text: string, ends: ReadonlyArray<number>): ReadonlyArray<string> =>
  [...ends, text.length].map((end, index) => text.slice(index === 0 ? 0 : ends[index - 1], end).trim()).filter((part) => part !== "")

const sentences = (text: string): ReadonlyArray<string> =>
  cutAt(
    text,
    [...text.matchAll(stop)]
      .filter(({ 1: stops = "", 2: next = "", index }) => endsSentence(text, index, stops, next))
      .map(({ 0: found, index }) => index + found.length)
  )

/** The last position up to `maxPiece` at which the voice may pause: after a comma, or after a word if there is no comma. */
const restIn = (sentence: string): number => {
  const beginning = sentence.slice(0, maxPiece)
  const commas = [...beginning.matchAll(/[,;:]\s|\s[-–—]\s/g)].map(({ 0: found, index }) => index + found.length)
  const comma = commas.findLast((at) => at >= minPiece && sentence.length - at >= minPiece)
  if (comma !== undefined) return comma
  const space = beginning.lastIndexOf(" ")
  return space < minPiece ? maxPiece : space + 1
}

const short = (sentence: string): ReadonlyArray<string> => {
  const parts: Array<string> = []
  let rest = sentence
  while (rest.length > maxPiece) {
    const end = restIn(rest)
    parts.push(rest.slice(0, end).trim())
    rest = rest.slice(end).trim()
  }
  return [...parts, rest]
}

/** A shorter beginning would be over before the rest of its sentence is synthesized. */
const leastClause = 16
const clauseEnd = /[,;:]\s+(?=\S)|\s[-–—]\s+(?=\S)/g

/** How much of an unfinished sentence can be spoken already: up to a comma that is followed by words. Undefined if none of it can. */
export const clauseIn = (text: string): number | undefined => {
  const ends = [...text.matchAll(clauseEnd)].map(({ 0: found, index }) => index + found.length)
  return ends.find((end) => text.slice(0, end).trim().length >= leastClause)
}

/** The pieces in order. Joined by spaces, they are the text. */
export const sentencesOf = (text: string): ReadonlyArray<string> => sentences(text.replace(/\s+/g, " ").trim()).flatMap(short)
