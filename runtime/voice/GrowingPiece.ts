/** A sentence whose speech arrives in parts: its length is estimated until it is complete. */
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { Piece } from "./HeardText.ts"

/** Rough speed of a voice. */
export const characterMillis = 70

const bytesOf = (text: string): number => (text.length * characterMillis * sampleRate) / 1000

export class GrowingPiece implements Piece {
  readonly text: string
  #bytes = 0
  #isWhole = false

  constructor(text: string) {
    this.text = text
  }

  get bytes(): number {
    return this.#isWhole ? this.#bytes : Math.max(this.#bytes + 1, bytesOf(this.text))
  }

  add(speech: Uint8Array): void {
    this.#bytes += speech.length
  }

  end(): void {
    this.#isWhole = true
  }
}
