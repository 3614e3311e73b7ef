/** A frame of audio, decoded once for all who listen to it. */
import { decodeSample, frameSize, silence } from "./Mulaw.ts"

export interface PcmFrame {
  readonly samples: Int16Array
  /** See `levelOf`. */
  level: number
}

export const makePcmFrame = (samples: Int16Array = new Int16Array(frameSize)): PcmFrame => ({ samples, level: 0 })

/** Root mean square. */
export const levelOf = (samples: Int16Array): number => {
  let power = 0
  for (let at = 0; at < samples.length; at++) power += (samples[at] ?? 0) ** 2
  return Math.sqrt(power / Math.max(1, samples.length))
}

/** Decodes a frame of mu-law. What it is short of is silence. */
export const decodeInto = (frame: PcmFrame, codes: Uint8Array): void => {
  const { samples } = frame
  for (let at = 0; at < samples.length; at++) samples[at] = decodeSample(codes[at] ?? silence)
  frame.level = levelOf(samples)
}
