/** Decodes Opus in Ogg with a third-party decoder, at the phone's sample rate. */
import { OggOpusDecoder } from "ogg-opus-decoder"

/** Decoded samples per sample of the phone; a call has no higher frequencies than the phone carries, so the others are not needed. */
const perSample = 6

export const heardOpus = async (file: Uint8Array) => {
  const decoder = new OggOpusDecoder()
  await decoder.ready
  const { channelData, errors, samplesDecoded } = await decoder.decodeFile(file)
  decoder.free()
  const [left = new Float32Array(), right = new Float32Array()] = channelData.map((side) => side.filter((_, at) => at % perSample === 0))
  return { channels: channelData.length, errors, left, right, samples: samplesDecoded / perSample }
}
