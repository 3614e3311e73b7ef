/** WAV files as other programs write them, and malformed ones. */

interface WavFormat {
  /** The format's number: 1 PCM, 3 float, 6 A-law, 7 mu-law. */
  readonly tag: number
  readonly bits: number
  readonly channels: number
  readonly rate: number
  readonly isExtensible?: boolean
  /** Chunks before the samples. */
  readonly before?: Buffer
  /** The length of the samples as the header gives it. */
  readonly dataBytes?: number
}

const chunk = (name: string, body: Buffer, size = body.length): Buffer => {
  const header = Buffer.alloc(8)
  header.write(name, 0, "latin1")
  header.writeUInt32LE(size, 4)
  return Buffer.concat([header, body, Buffer.alloc(body.length % 2)])
}
export const otherChunk = chunk("LIST", Buffer.from("odd"))

export const wavOf = (format: WavFormat, data: Buffer): Buffer => {
  const fmt = Buffer.alloc(format.isExtensible === true ? 40 : 16)
  const stride = (format.channels * format.bits) / 8
  fmt.writeUInt16LE(format.isExtensible === true ? 0xfffe : format.tag, 0)
  fmt.writeUInt16LE(format.channels, 2)
  fmt.writeUInt32LE(format.rate, 4)
  fmt.writeUInt32LE((format.rate * stride) >>> 0, 8)
  fmt.writeUInt16LE(stride & 0xffff, 12)
  fmt.writeUInt16LE(format.bits, 14)
  if (format.isExtensible === true) fmt.writeUInt16LE(format.tag, 24)
  const body = Buffer.concat([
    Buffer.from("WAVE"),
    chunk("fmt ", fmt),
    format.before ?? Buffer.alloc(0),
    chunk("data", data, format.dataBytes)
  ])
  return chunk("RIFF", body)
}

/** PCM16, one channel, at the phone's sample rate. */
export const phoneWav = (samples: Int16Array): Buffer =>
  wavOf({ tag: 1, bits: 16, channels: 1, rate: 8000 }, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength))

export const tone = (seconds: number, rate = 8000, hertz = 500, loudness = 12_000): Int16Array =>
  Int16Array.from({ length: Math.round(seconds * rate) }, (_, at) => loudness * Math.sin((2 * Math.PI * hertz * at) / rate))
