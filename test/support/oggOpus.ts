/** Listens to Opus in Ogg through somebody else's reader and decoder, at the rate of the phone. */
import { OggOpusDecoder } from "ogg-opus-decoder"

/** What the decoder makes of each sample of the phone; nothing in a call is higher than the phone can carry, so the others are not needed. */
const perSample = 6

export const heardOpus = async (file: Uint8Array) => {
  const decoder = new OggOpusDecoder()
  await decoder.ready
  const { channelData, errors, samplesDecoded } = await decoder.decodeFile(file)
  decoder.free()
  const [left = new Float32Array(), right = new Float32Array()] = channelData.map((side) => side.filter((_, at) => at % perSample === 0))
  return { channels: channelData.length, errors, left, right, samples: samplesDecoded / perSample }
}
