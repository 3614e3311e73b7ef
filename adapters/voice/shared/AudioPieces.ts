/** Puts frames of audio together to the pieces that a service recommends. */
export class AudioPieces {
  readonly #send: (piece: Uint8Array) => void
  readonly #bytes: Uint8Array
  #filled = 0

  /** `send` is given a copy. Frames must not be longer than a piece. */
  constructor(pieceBytes: number, send: (piece: Uint8Array) => void) {
    this.#bytes = new Uint8Array(pieceBytes)
    this.#send = send
  }

  push(frame: Uint8Array): void {
    if (this.#filled + frame.length > this.#bytes.length) this.flush()
    this.#bytes.set(frame, this.#filled)
    this.#filled += frame.length
    if (this.#filled === this.#bytes.length) this.flush()
  }

  /** Sends what there is of the next piece. */
  flush(): void {
    if (this.#filled > 0) this.#send(this.#bytes.slice(0, this.#filled))
    this.#filled = 0
  }
}

/** PCM16 as it is, without a copy. */
export const bytesOf = (samples: Int16Array): Uint8Array => new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength)
