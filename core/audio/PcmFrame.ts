/** A frame of audio, decoded once for all who listen to it. */
import { decodeSample, frameSize, silence } from "./Mulaw.ts"

export interface PcmFrame {
  readonly samples: Int16Array
  /** Root mean square. */
  level: number
}

export const makePcmFrame = (samples: Int16Array = new Int16Array(frameSize)): PcmFrame => ({ samples, level: 0 })

/** The level of a frame of mu-law. */
export const levelOf = (codes: Uint8Array): number => {
  let power = 0
  for (let at = 0; at < codes.length; at++) power += decodeSample(codes[at] ?? silence) ** 2
  return Math.sqrt(power / Math.max(1, codes.length))
}

/** Decodes a frame of mu-law. What it is short of is silence. */
export const decodeInto = (frame: PcmFrame, codes: Uint8Array): void => {
  const { samples } = frame
  let power = 0
  for (let at = 0; at < samples.length; at++) {
    const sample = decodeSample(codes[at] ?? silence)
    samples[at] = sample
    power += sample * sample
  }
  frame.level = Math.sqrt(power / samples.length)
}
