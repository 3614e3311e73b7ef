/** The part of a text that was heard when only part of its speech was played. */
import type { WordMark } from "#core/voice/WordMarks.ts"

/** A text, and its speech. */
export interface Piece {
  readonly text: string
  /** Length of its speech. */
  readonly bytes: number
  /** Those whose ends are known: the first words of the text, up to any number. */
  readonly words?: ReadonlyArray<WordMark>
}

const start: WordMark = { characters: 0, bytes: 0 }

/**
 * Whole words that were played to their end: to repeat half a word is better than to take it for understood. After the last word whose end is
 * known, they are estimated in proportion to the characters.
 */
const heardPart = ({ bytes, text, words = [] }: Piece, played: number): string => {
  if (played >= bytes) return text
  const heard = words.filter((word) => word.bytes <= played)
  const last = heard.at(-1) ?? start
  const known = text.slice(0, last.characters)
  if (heard.length < words.length) return known
  const rest = text.slice(last.characters)
  const cut = rest.slice(0, Math.floor((rest.length * Math.max(0, played - last.bytes)) / (bytes - last.bytes)))
  return known + cut.slice(0, Math.max(0, cut.lastIndexOf(" ")))
}

/** The part of a text that was heard when `played` bytes of its pieces' speech were played. */
export const heardText = (pieces: ReadonlyArray<Piece>, played: number): string => {
  let rest = played
  const heard: Array<string> = []
  for (const piece of pieces) {
    heard.push(heardPart(piece, rest))
    rest -= piece.bytes
    if (rest <= 0) break
  }
  return heard.join(" ").trim()
}
