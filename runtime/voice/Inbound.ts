/**
 * Buffers the callee's frames between two ticks. Sockets deliver in bursts; the recording takes one frame per tick. So after a burst, what it takes
 * is older than what has arrived, and whoever must react at once listens to frames as they arrive.
 */
import { frameSize } from "#core/audio/Mulaw.ts"
import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

export interface Inbound {
  /** Decodes the frame, which is its only copy, and returns it. A full buffer drops its oldest frame. */
  readonly put: (codes: Uint8Array) => PcmFrame
  /** The oldest frame, valid until the next `put`. Undefined when there is none. */
  readonly take: () => PcmFrame | undefined
}

// 200 ms: more would let the callee's track fall behind the agent's.
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
    }
  }
}
