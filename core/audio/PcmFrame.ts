/** A frame of audio that is decoded once for all of its consumers. */
import { decodeSample, frameSize, silence } from "./Mulaw.ts"

export interface PcmFrame {
  readonly samples: Int16Array
  /** See `levelOf`. */
  level: number
}

export const makePcmFrame = (samples: Int16Array = new Int16Array(frameSize)): PcmFrame => ({ samples, level: 0 })

/** The root mean square of the samples. */
export const levelOf = (samples: Int16Array): number => {
  let power = 0
  for (let at = 0; at < samples.length; at++) power += (samples[at] ?? 0) ** 2
  return Math.sqrt(power / Math.max(1, samples.length))
}

/** The square of each code's sample. */
const squares = Float64Array.from({ length: 0x100 }, (_, code) => decodeSample(code) ** 2)

/** Like `levelOf`, but for mu-law, without decoding it. */
export const levelOfCodes = (codes: Uint8Array): number => {
  let power = 0
  for (let at = 0; at < codes.length; at++) power += squares[codes[at] ?? silence] ?? 0
  return Math.sqrt(power / Math.max(1, codes.length))
}

/** Decodes a frame of mu-law. Missing bytes become silence. */
export const decodeInto = (frame: PcmFrame, codes: Uint8Array): void => {
  const { samples } = frame
  let power = 0
  for (let at = 0; at < samples.length; at++) {
    const code = codes[at] ?? silence
    samples[at] = decodeSample(code)
    power += squares[code] ?? 0
  }
  frame.level = Math.sqrt(power / Math.max(1, samples.length))
}
