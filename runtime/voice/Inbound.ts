/**
 * Buffers the callee's frames between two ticks, decoded once for all who take them, each at their own pace. Sockets deliver in bursts; whoever takes
 * one frame per tick gets, after a burst, what is older than what has arrived. Whoever must react at once listens to frames as they arrive.
 */
import { frameSize } from "#core/audio/Mulaw.ts"
import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

/** The frames that one taker has not taken yet. */
export interface Arrivals {
  /** The oldest frame, valid until the next `put`. Undefined when there is none. */
  readonly take: () => PcmFrame | undefined
  readonly waiting: () => number
}

export interface Inbound {
  /** Decodes the frame, and returns it. A full buffer drops its oldest frame. */
  readonly put: (codes: Uint8Array) => PcmFrame
  /** For another taker, of what arrives from now on. */
  readonly arrivals: () => Arrivals
}

// 200 ms: more would be too old.
const capacity = 10

export const makeInbound = (): Inbound => {
  const samples = new Int16Array(capacity * frameSize)
  const ring = Array.from({ length: capacity }, (_, index) => makePcmFrame(samples.subarray(index * frameSize, (index + 1) * frameSize)))
  const unused = makePcmFrame()
  /** Frames so far. */
  let arrived = 0
  return {
    put: (codes) => {
      const frame = ring[arrived % capacity] ?? unused
      decodeInto(frame, codes)
      arrived++
      return frame
    },
    arrivals: () => {
      let taken = arrived
      return {
        take: () => {
          if (taken === arrived) return undefined
          const next = Math.max(taken, arrived - capacity)
          taken = next + 1
          return ring[next % capacity]
        },
        waiting: () => Math.min(arrived - taken, capacity)
      }
    }
  }
}
