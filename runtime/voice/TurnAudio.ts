/** The last seconds heard from the callee, for end-of-turn models that listen. */
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import type { FrameListener } from "./FrameListener.ts"

const frames = 400

export class TurnAudio implements FrameListener {
  readonly #ring = new Int16Array(frames * frameSize)
  #heard = 0

  hear({ samples }: PcmFrame): void {
    this.#ring.set(samples, (this.#heard++ % frames) * frameSize)
  }

  /** A copy of the last `millis`, out of the eight seconds that are kept. */
  last(millis: number): Int16Array {
    const wanted = Math.max(0, Math.ceil((millis * sampleRate) / 1000 / frameSize))
    const count = Math.min(wanted, frames, this.#heard)
    const copy = new Int16Array(count * frameSize)
    for (let at = 0; at < count; at++) {
      const from = ((this.#heard - count + at) % frames) * frameSize
      copy.set(this.#ring.subarray(from, from + frameSize), at * frameSize)
    }
    return copy
  }
}
