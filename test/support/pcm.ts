import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

/** A frame of mu-law, decoded as listeners get it. */
export const pcm = (codes: Uint8Array): PcmFrame => {
  const frame = makePcmFrame()
  decodeInto(frame, codes)
  return frame
}
