/** The part of a text that was heard when only part of its speech was played. */

/** A text, and its speech. */
export interface Piece {
  readonly text: string
  /** Length of its speech. */
  readonly bytes: number
}

/** The part of a text that was heard when only part of its speech was played: whole words, in proportion to the characters. */
const heardPart = ({ bytes, text }: Piece, played: number): string => {
  if (played >= bytes) return text
  const cut = text.slice(0, Math.floor((text.length * Math.max(0, played)) / bytes))
  return cut.slice(0, Math.max(0, cut.lastIndexOf(" ")))
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
