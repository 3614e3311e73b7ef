/** Buffers the callee's frames between two ticks. Sockets deliver in bursts; the recording takes one frame per tick. */
import { frameSize, silence } from "#core/audio/Mulaw.ts"

export interface Inbound {
  /** Copies the frame. A full buffer drops its oldest frame. */
  readonly put: (frame: Uint8Array) => void
  /** The oldest frame, valid until the next `take` of any call. Undefined when there is none. */
  readonly take: () => Uint8Array | undefined
}

// 200 ms: more would let the callee's track fall behind the agent's.
const capacity = 10

// Shared by all calls: it is read before anything else can run.
const taken = new Uint8Array(frameSize)

export const makeInbound = (): Inbound => {
  const ring = new Uint8Array(capacity * frameSize)
  let first = 0
  let count = 0
  return {
    put: (frame) => {
      const start = ((first + count) % capacity) * frameSize
      for (let at = 0; at < frameSize; at++) ring[start + at] = frame[at] ?? silence
      if (count < capacity) count++
      else first = (first + 1) % capacity
    },
    take: () => {
      if (count === 0) return undefined
      const start = first * frameSize
      for (let at = 0; at < frameSize; at++) taken[at] = ring[start + at] ?? silence
      first = (first + 1) % capacity
      count--
      return taken
    }
  }
}
