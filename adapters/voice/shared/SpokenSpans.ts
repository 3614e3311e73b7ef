/** When callees have spoken, for the texts of services that do not say. In milliseconds of written audio. */
type Span = readonly [fromMillis: number, untilMillis: number]

/** If nobody has said whether somebody speaks: about -36 dB. */
const audible = 500

const isAudible = (samples: Int16Array): boolean => samples.some((sample) => Math.abs(sample) > audible)

export class SpokenSpans {
  #millis = 0
  /** Of what was spoken since the text was last asked for. */
  #latest: Span | undefined
  /** Of what was spoken before, if its text has not come yet. */
  #asked: Span | undefined

  get millis(): number {
    return this.#millis
  }

  /** The text of something that was spoken has yet to come. */
  get isAwaited(): boolean {
    return this.#latest !== undefined || this.#asked !== undefined
  }

  wrote(samples: Int16Array, millis: number, isSpeech = isAudible(samples)): void {
    const from = this.#millis
    this.#millis += millis
    if (isSpeech) this.#latest = [this.#latest?.[0] ?? from, this.#millis]
  }

  /** The service has been asked for the text of everything so far. */
  asked(): void {
    this.#asked = this.#latest ?? this.#asked
    this.#latest = undefined
  }

  /** That of the text that has come. Empty if nobody seemed to speak. */
  next(): Span {
    const span = this.#asked ?? this.#latest
    if (this.#asked === undefined) this.#latest = undefined
    this.#asked = undefined
    return span ?? [this.#millis, this.#millis]
  }
}
