/**
 * Speech that an emulated recognizer understands: each text is a tone of half a second whose frames begin with a mark that names the text, so that it is
 * recognized by what arrives and not by when it was said. The marks are values that mu-law leaves as they are.
 */
import { decodeSample, encodeSample } from "#core/audio/Mulaw.ts"

/** The loudest value of mu-law. The next ones are louder than the tone. */
const firstMark = 0x80
const mostTexts = 32
const frameSamples = 160
const speechFrames = 25

export class MarkedSpeech {
  readonly #texts: Array<string> = []

  /** PCM16 at 8 kHz. */
  audioOf(text: string): Int16Array {
    const known = this.#texts.indexOf(text)
    const id = known === -1 ? this.#texts.push(text) - 1 : known
    if (id >= mostTexts) throw new Error("there are not so many marks")
    return Int16Array.from({ length: speechFrames * frameSamples }, (_, at) =>
      at % frameSamples === 0 ? decodeSample(firstMark + id) : Math.round(5000 * Math.sin((2 * Math.PI * 440 * at) / 8000))
    )
  }

  /** The text that 20 ms of audio belong to. Undefined for silence. */
  textIn(frame: Int16Array): string | undefined {
    return this.#texts[encodeSample(frame[0] ?? 0) - firstMark]
  }
}
