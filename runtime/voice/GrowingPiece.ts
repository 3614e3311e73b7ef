/** A sentence whose speech arrives in parts: its length is estimated until it is complete. */
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { Piece } from "./HeardText.ts"
import type { WordMark } from "#core/voice/WordMarks.ts"

/** Rough speed of a voice. */
export const characterMillis = 70

const bytesOf = (text: string): number => (text.length * characterMillis * sampleRate) / 1000

export class GrowingPiece implements Piece {
  readonly text: string
  readonly words: ReadonlyArray<WordMark>
  #bytes = 0
  #isWhole = false

  /** More words may be added to `words` while the speech arrives. */
  constructor(text: string, words: ReadonlyArray<WordMark>) {
    this.text = text
    this.words = words
  }

  get bytes(): number {
    if (this.#isWhole) return this.#bytes
    const known = this.words.at(-1)
    return Math.max(this.#bytes + 1, (known?.bytes ?? 0) + bytesOf(this.text.slice(known?.characters)))
  }

  add(speech: Uint8Array): void {
    this.#bytes += speech.length
  }

  end(): void {
    this.#isWhole = true
  }
}
