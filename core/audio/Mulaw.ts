/** G.711 mu-law by table, in both directions. Audio is processed as PCM16 and sent as mu-law. */

export const sampleRate = 8000
export const frameMillis = 20
/** Samples per frame, and in mu-law also bytes. */
export const frameSize = 160
/** The code of a zero sample. */
export const silence = 0xff

// The standard's curve on 16 bits: eight segments, each twice as wide as the one before, offset so that they join.
const bias = 132
const clip = 32635

const decodeOne = (code: number): number => {
  const bits = ~code & 0xff
  const magnitude = ((((bits & 0x0f) << 3) + bias) << ((bits & 0x70) >> 4)) - bias
  return (bits & 0x80) === 0 ? magnitude : -magnitude
}

const encodeOne = (sample: number): number => {
  const sign = sample < 0 ? 0x80 : 0
  const biased = Math.min(Math.abs(sample), clip) + bias
  const segment = 24 - Math.clz32(biased)
  return ~(sign | (segment << 4) | ((biased >> (segment + 3)) & 0x0f)) & 0xff
}

const decoded = Int16Array.from({ length: 0x100 }, (_, code) => decodeOne(code))
// Indexed by the sample's 16 bits as an unsigned number.
const encoded = Uint8Array.from({ length: 0x10000 }, (_, bits) => encodeOne((bits << 16) >> 16))

/** The PCM16 value of a mu-law byte. */
export const decodeSample = (code: number): number => decoded[code & 0xff] ?? 0

/** The mu-law byte of a PCM16 value. */
export const encodeSample = (sample: number): number => encoded[sample & 0xffff] ?? silence

export const decode = (codes: Uint8Array): Int16Array => {
  const samples = new Int16Array(codes.length)
  for (let index = 0; index < codes.length; index++) samples[index] = decodeSample(codes[index] ?? silence)
  return samples
}

export const encode = (samples: Int16Array): Uint8Array => {
  const codes = new Uint8Array(samples.length)
  for (let index = 0; index < samples.length; index++) codes[index] = encodeSample(samples[index] ?? 0)
  return codes
}

/** Like `encode`, padded with silence to whole frames: a partial last frame is heard as a click. */
export const encodeFrames = (samples: Int16Array): Uint8Array<ArrayBuffer> => {
  const codes = new Uint8Array(Math.ceil(samples.length / frameSize) * frameSize).fill(silence)
  for (let index = 0; index < samples.length; index++) codes[index] = encodeSample(samples[index] ?? 0)
  return codes
}
