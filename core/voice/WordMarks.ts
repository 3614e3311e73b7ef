/**
 * Where the words of a text end in its speech, as far as a voice tells. What voices tell is not trusted: services write out figures, leave words out
 * and repeat times. The words up to the first one that does not fit are marked, and no others.
 */
import { sampleRate } from "#core/audio/Mulaw.ts"
import type { SpokenWord } from "#core/model/TextToSpeech.ts"

/** The end of a word. */
export interface WordMark {
  /** How much of the text has been spoken then, with the punctuation that follows the word. */
  readonly characters: number
  /** How long the speech is up to there, in bytes for the phone. */
  readonly bytes: number
}

const bytesPerMillis = sampleRate / 1000
const withoutEdges = /[\p{L}\p{M}\p{N}](.*[\p{L}\p{M}\p{N}])?/su
const before = /[^\p{L}\p{M}\p{N}]*/uy
const after = /[^\p{L}\p{M}\p{N}\s]*/uy

const skip = (punctuation: RegExp, text: string, from: number): number => {
  punctuation.lastIndex = from
  punctuation.exec(text)
  return punctuation.lastIndex
}

export class WordMarks {
  readonly marks: Array<WordMark> = []
  readonly #text: string
  #isOver = false

  constructor(text: string) {
    this.#text = text
  }

  push({ untilMillis, word }: SpokenWord): void {
    const bare = withoutEdges.exec(word)?.[0]
    if (this.#isOver || bare === undefined) return
    const last = this.marks.at(-1) ?? { characters: 0, bytes: 0 }
    const from = skip(before, this.#text, last.characters)
    const bytes = Math.ceil(untilMillis * bytesPerMillis)
    if (this.#text.startsWith(bare, from) && bytes > last.bytes && Number.isFinite(bytes))
      this.marks.push({ characters: skip(after, this.#text, from + bare.length), bytes })
    else this.#isOver = true
  }
}
