/** The receiving half of a media stream: turns pieces of any size into frames of 160 bytes, and reports the end once. */
import type { MediaEnd, MediaListener } from "#core/provider/Media.ts"
import { frameSize } from "#core/audio/Mulaw.ts"

export class MediaEar {
  #listener: MediaListener | undefined
  #end: readonly [how: MediaEnd, why: string] | undefined
  readonly #rest = new Uint8Array(frameSize)
  #filled = 0

  listen(listener: MediaListener): void {
    this.#listener = listener
    if (this.#end !== undefined) listener.closed(...this.#end)
  }

  /** Audio that arrives before there is a listener is dropped. */
  hear(audio: Uint8Array): void {
    if (this.#end !== undefined) return
    if (this.#filled === 0 && audio.length === frameSize) {
      this.#listener?.frame(audio)
      return
    }
    for (let from = 0; from < audio.length; ) {
      const part = audio.subarray(from, from + frameSize - this.#filled)
      this.#rest.set(part, this.#filled)
      this.#filled += part.length
      from += part.length
      if (this.#filled < frameSize) return
      this.#filled = 0
      this.#listener?.frame(this.#rest)
    }
  }

  marked(name: string, how: "played" | "cleared"): void {
    if (this.#end === undefined) this.#listener?.marked?.(name, how)
  }

  isOpen(): boolean {
    return this.#end === undefined
  }

  close(how: MediaEnd, why: string): void {
    if (this.#end !== undefined) return
    this.#end = [how, why]
    this.#listener?.closed(how, why)
  }
}
