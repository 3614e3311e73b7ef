/**
 * Speech that an emulated recognizer understands: each text is a tone of half a second whose frames begin with a mark that names the text, so that it is
 * recognized by what arrives and not by when it was said.
 */
const mark = 20_000
const frameSamples = 160
const speechFrames = 25

export class MarkedSpeech {
  readonly #texts: Array<string> = []

  /** PCM16 at 8 kHz. */
  audioOf(text: string): Int16Array {
    const known = this.#texts.indexOf(text)
    const id = known === -1 ? this.#texts.push(text) - 1 : known
    return Int16Array.from({ length: speechFrames * frameSamples }, (_, at) =>
      at % frameSamples === 0 ? mark + id : Math.round(5000 * Math.sin((2 * Math.PI * 440 * at) / 8000))
    )
  }

  /** The text that 20 ms of audio belong to. Undefined for silence. */
  textIn(frame: Int16Array): string | undefined {
    return this.#texts[(frame[0] ?? 0) - mark]
  }
}
