/** Collects the frames of one turn of the event loop, of any number of calls, and hands them over together. */
import { frameSize } from "#core/audio/Mulaw.ts"

interface Batch {
  readonly _tag: "Audio"
  readonly peers: ReadonlyArray<number>
  readonly bytes: Uint8Array
}

const roomAtFirst = 32

export class FrameBatch {
  readonly #deliver: (batch: Batch) => void
  #peers: Array<number> = []
  #bytes = new Uint8Array(roomAtFirst * frameSize)

  constructor(deliver: (batch: Batch) => void) {
    this.#deliver = deliver
  }

  /** Copies the frame, of 160 bytes. */
  add(peer: number, frame: Uint8Array): void {
    const at = this.#peers.length * frameSize
    if (at === 0) queueMicrotask(() => this.flush())
    if (at === this.#bytes.length) this.#grow()
    this.#bytes.set(frame, at)
    this.#peers.push(peer)
  }

  /** Hands over what has been added so far. */
  flush(): void {
    if (this.#peers.length === 0) return
    const peers = this.#peers
    this.#peers = []
    this.#deliver({ _tag: "Audio", peers, bytes: this.#bytes.slice(0, peers.length * frameSize) })
  }

  #grow(): void {
    const grown = new Uint8Array(this.#bytes.length * 2)
    grown.set(this.#bytes)
    this.#bytes = grown
  }
}
