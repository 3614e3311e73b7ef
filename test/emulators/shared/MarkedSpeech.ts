/**
 * Speech that an emulated recognizer understands: its frames begin with a mark that names the text, too quiet to be heard, so that it is recognized by what
 * arrives and not by when it was said. Mu-law keeps the mark.
 */
import { decodeSample, encodeSample, frameSize } from "#core/audio/Mulaw.ts"
import type { Utterance } from "./Talker.ts"

const mark = [0xe9, 0x67, 0xeb, 0x65]
/** The quietest codes but those of zero. */
const codeOf = (id: number): number => 0xfe - id
const mostTexts = 0x20
const toneFrames = 25
const tone = Int16Array.from({ length: toneFrames * frameSize }, (_, at) => Math.round(5000 * Math.sin((2 * Math.PI * 440 * at) / 8000)))

export class MarkedSpeech {
  /** Called with the text of each frame that is heard. */
  heard: (text: string) => void = () => {}
  readonly #texts: Array<string> = []

  /** A tone of half a second: PCM16 at 8 kHz. */
  audioOf(text: string): Int16Array {
    const marks = this.#marksOf(text).map(decodeSample)
    return tone.map((sample, at) => marks[at % frameSize] ?? sample)
  }

  /** The same words as a callee says them. */
  marked({ frames, text }: Utterance): Utterance {
    const marks = this.#marksOf(text)
    return { text, frames: frames.map((frame) => Buffer.from([...marks, ...frame.subarray(marks.length)])) }
  }

  /** The text that 20 ms of audio belong to. Undefined for silence. */
  textIn(frame: Int16Array): string | undefined {
    const isMarked = mark.every((code, at) => encodeSample(frame[at] ?? 0) === code)
    const text = isMarked ? this.#texts[codeOf(encodeSample(frame[mark.length] ?? 0))] : undefined
    if (text !== undefined) this.heard(text)
    return text
  }

  /** What is said in whole frames of audio. */
  textsIn(samples: Int16Array): string {
    const texts: Array<string> = []
    for (let at = 0; at + frameSize <= samples.length; at += frameSize) {
      const text = this.textIn(samples.subarray(at, at + frameSize))
      if (text !== undefined && text !== texts.at(-1)) texts.push(text)
    }
    return texts.join(" ")
  }

  #marksOf(text: string): ReadonlyArray<number> {
    const known = this.#texts.indexOf(text)
    const id = known === -1 ? this.#texts.push(text) - 1 : known
    if (id >= mostTexts) throw new Error(`more than ${mostTexts} texts`)
    return [...mark, codeOf(id)]
  }
}
