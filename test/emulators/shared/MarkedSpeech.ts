/**
 * Speech that an emulated recognizer understands: its frames begin with a mark that names the text, too quiet to be heard, so that it is recognized by what
 * arrives and not by when it was said; and once, where it begins, even if it is cut in two. Mu-law keeps the mark.
 */
import { decodeSample, encodeSample, frameSize } from "#core/audio/Mulaw.ts"
import type { Utterance } from "./Talker.ts"

const mark = [0xe9, 0x67, 0xeb]
/** Follows the mark in the first frames of a text, and in its other frames. */
const [begins, goesOn] = [0x65, 0x63]
const beginningFrames = 5
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
    const marksAt = this.#marksOf(text)
    return tone.map((sample, at) => {
      const code = marksAt(Math.floor(at / frameSize))[at % frameSize]
      return code === undefined ? sample : decodeSample(code)
    })
  }

  /** The same words as a callee says them. */
  marked({ frames, text }: Utterance): Utterance {
    const marksAt = this.#marksOf(text)
    const marked = frames.map((frame, index) => {
      const marks = marksAt(index)
      return Buffer.from([...marks, ...frame.subarray(marks.length)])
    })
    return { text, frames: marked }
  }

  /** The text that begins in these 20 ms of audio; empty if it has begun before. Undefined for silence. */
  textIn(frame: Int16Array): string | undefined {
    const codes = Array.from({ length: mark.length + 2 }, (_, at) => encodeSample(frame[at] ?? 0))
    const [place = 0, id = 0] = codes.slice(mark.length)
    const text = mark.every((code, at) => codes[at] === code) ? this.#texts[codeOf(id)] : undefined
    if (text === undefined) return undefined
    this.heard(text)
    return place === begins ? text : ""
  }

  /** What is said in whole frames of audio. */
  textsIn(samples: Int16Array): string {
    const texts: Array<string> = []
    for (let at = 0; at + frameSize <= samples.length; at += frameSize) {
      const text = this.textIn(samples.subarray(at, at + frameSize))
      if (text && text !== texts.at(-1)) texts.push(text)
    }
    return texts.join(" ")
  }

  /** The first codes of each frame. */
  #marksOf(text: string): (frame: number) => ReadonlyArray<number> {
    const known = this.#texts.indexOf(text)
    const id = known === -1 ? this.#texts.push(text) - 1 : known
    if (id >= mostTexts) throw new Error(`more than ${mostTexts} texts`)
    return (frame) => [...mark, frame < beginningFrames ? begins : goesOn, codeOf(id)]
  }
}
