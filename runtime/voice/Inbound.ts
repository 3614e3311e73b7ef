/**
 * Buffers the callee's frames between two ticks, decoded once for several consumers, each at its own pace. Sockets deliver in bursts, so a
 * consumer that takes one frame per tick lags behind after a burst. A consumer that must react at once listens to frames as they arrive instead.
 */
import { frameSize } from "#core/audio/Mulaw.ts"
import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

/** The frames that one consumer has not taken yet. */
export interface Arrivals {
  /** The oldest frame, valid until the next `put`; undefined if there is none. */
  readonly take: () => PcmFrame | undefined
  readonly waiting: () => number
}

export interface Inbound {
  /** Decodes the frame, and returns it. A full buffer drops its oldest frame. */
  readonly put: (codes: Uint8Array) => PcmFrame
  /** Adds a consumer, which gets the frames that arrive from now on. */
  readonly arrivals: () => Arrivals
}

// 200 ms: anything older is useless.
const capacity = 10

export const makeInbound = (): Inbound => {
  const samples = new Int16Array(capacity * frameSize)
  const ring = Array.from({ length: capacity }, (_, index) => makePcmFrame(samples.subarray(index * frameSize, (index + 1) * frameSize)))
  const unused = makePcmFrame()
  /** Number of frames so far. */
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
