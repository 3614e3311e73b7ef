/** The receiving half of a media stream: reassembles frames of 160 bytes from pieces of any size, and reports the end once. */
import type { MediaStream } from "#core/provider/Media.ts"

type Listener = Parameters<MediaStream["listen"]>[0]

const FRAME_BYTES = 160

export class AriEar {
  #listener: Listener | undefined
  #closed: string | undefined
  readonly #rest = new Uint8Array(FRAME_BYTES)
  #filled = 0

  listen(listener: Listener): void {
    this.#listener = listener
    if (this.#closed !== undefined) listener.closed(this.#closed)
  }

  /** Audio that arrives before there is a listener is dropped. */
  hear(audio: Uint8Array): void {
    if (this.#filled === 0 && audio.length === FRAME_BYTES) {
      this.#listener?.frame(audio)
      return
    }
    for (let from = 0; from < audio.length; ) {
      const part = audio.subarray(from, from + FRAME_BYTES - this.#filled)
      this.#rest.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled < FRAME_BYTES) return
      this.#filled = 0
      this.#listener?.frame(this.#rest)
    }
  }

  close(why: string): void {
    if (this.#closed !== undefined) return
    this.#closed = why
    this.#listener?.closed(why)
  }
}
