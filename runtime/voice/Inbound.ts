/**
 * Buffers the callee's frames between two ticks. Sockets deliver in bursts; whoever takes one frame per tick gets, after a burst, what is older than
 * what has arrived. Whoever must react at once listens to frames as they arrive.
 */
import { frameSize } from "#core/audio/Mulaw.ts"
import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

export interface Inbound {
  /** Decodes the frame, and returns it. A full buffer drops its oldest frame. */
  readonly put: (codes: Uint8Array) => PcmFrame
  /** The oldest frame, valid until the next `put`. Undefined when there is none. */
  readonly take: () => PcmFrame | undefined
  readonly waiting: () => number
}

// 200 ms: more would be too old.
const capacity = 10

export const makeInbound = (): Inbound => {
  const samples = new Int16Array(capacity * frameSize)
  const ring = Array.from({ length: capacity }, (_, index) => makePcmFrame(samples.subarray(index * frameSize, (index + 1) * frameSize)))
  const unused = makePcmFrame()
  let first = 0
  let count = 0
  return {
    put: (codes) => {
      const frame = ring[(first + count) % capacity] ?? unused
      decodeInto(frame, codes)
      if (count < capacity) count++
      else first = (first + 1) % capacity
      return frame
    },
    take: () => {
      if (count === 0) return undefined
      const frame = ring[first]
      first = (first + 1) % capacity
      count--
      return frame
    },
    waiting: () => count
  }
}
