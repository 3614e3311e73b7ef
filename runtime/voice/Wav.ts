/**
 * Reads WAV: PCM of 8 to 32 bits, 32-bit float, mu-law and A-law, of any number of channels. What the file says of itself is only believed
 * as far as there are bytes; whatever it holds, no more is allocated than a piece of it takes.
 */
import { decodeSample } from "./Mulaw.ts"
import { isPlayableRate, type PhoneSound } from "./PhoneSound.ts"

interface Format {
  readonly encoding: "pcm" | "float" | "alaw" | "mulaw"
  readonly channels: number
  readonly rate: number
  /** Of one sample of one channel. */
  readonly bytes: number
  /** Of one sample of all channels. */
  readonly stride: number
}

const maxChannels = 32
// Sample frames; with 32 channels of 4 bytes, 2 MB of the file.
const pieceFrames = 16_384
// The format that a WAVE_FORMAT_EXTENSIBLE really has begins its GUID, at this place of the chunk.
const extensible = 0xfffe
const subFormatAt = 24

const encodings: Readonly<Record<number, { readonly encoding: Format["encoding"]; readonly bits: ReadonlyArray<number> }>> = {
  1: { encoding: "pcm", bits: [8, 16, 24, 32] },
  3: { encoding: "float", bits: [32] },
  6: { encoding: "alaw", bits: [8] },
  7: { encoding: "mulaw", bits: [8] }
}

export const isWav = (file: Uint8Array): boolean => nameAt(file, 0) === "RIFF" && nameAt(file, 8) === "WAVE"

const nameAt = (file: Uint8Array, at: number): string => String.fromCharCode(...file.subarray(at, at + 4))

const readFormat = (chunk: DataView): Format | undefined => {
  if (chunk.byteLength < 16) return undefined
  const written = chunk.getUint16(0, true)
  const tag = written === extensible && chunk.byteLength >= subFormatAt + 2 ? chunk.getUint16(subFormatAt, true) : written
  const known = encodings[tag]
  const channels = chunk.getUint16(2, true)
  const rate = chunk.getUint32(4, true)
  const stride = chunk.getUint16(12, true)
  const bits = chunk.getUint16(14, true)
  if (known === undefined || !known.bits.includes(bits) || !isPlayableRate(rate)) return undefined
  const bytes = bits / 8
  return channels < 1 || channels > maxChannels || stride !== channels * bytes
    ? undefined
    : { encoding: known.encoding, channels, rate, bytes, stride }
}

/** Its format, and where its samples lie. */
const open = (file: Uint8Array): { readonly format: Format; readonly data: Uint8Array } | undefined => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  let format: Format | undefined
  // Chunks have even places; each step is at least eight bytes on.
  for (let at = 12; at + 8 <= file.length; ) {
    const size = view.getUint32(at + 4, true)
    const body = at + 8
    const end = Math.min(file.length, body + size)
    const name = nameAt(file, at)
    if (name === "fmt ") {
      format = readFormat(new DataView(file.buffer, file.byteOffset + body, end - body))
      if (format === undefined) return undefined
    }
    if (name === "data") return format === undefined ? undefined : { format, data: file.subarray(body, end) }
    at = body + size + (size % 2)
  }
  return undefined
}

const decodeAlaw = (code: number): number => {
  const bits = code ^ 0x55
  const segment = (bits & 0x70) >> 4
  const step = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1)
  return (bits & 0x80) === 0 ? -magnitude : magnitude
}

/** One sample as PCM16. What is no number, as a float may be, is silence. */
const readerOf = ({ bytes, encoding }: Format): ((view: DataView, at: number) => number) => {
  switch (encoding) {
    case "alaw":
      return (view, at) => decodeAlaw(view.getUint8(at))
    case "mulaw":
      return (view, at) => decodeSample(view.getUint8(at))
    case "float":
      return (view, at) => Math.max(-1, Math.min(1, view.getFloat32(at, true) || 0)) * 32_767
    case "pcm":
      // Of the wider ones the upper 16 bits; 8 bits have no sign.
      return bytes === 1 ? (view, at) => (view.getUint8(at) - 128) << 8 : (view, at) => view.getInt16(at + bytes - 2, true)
  }
}

/** All channels of it in one. False when it is no WAV, or one of a format that nobody can hear. */
export const readWav = (file: Uint8Array, sound: PhoneSound): boolean => {
  const wav = isWav(file) ? open(file) : undefined
  if (wav === undefined) return false
  const { data, format } = wav
  const read = readerOf(format)
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  // A last sample that was cut off is left out.
  const frames = Math.floor(data.length / format.stride)
  for (let done = 0; done < frames && !sound.isFull(); done += pieceFrames) {
    const piece = new Int16Array(Math.min(pieceFrames, frames - done))
    for (let frame = 0; frame < piece.length; frame++) {
      const at = (done + frame) * format.stride
      let sum = 0
      for (let channel = 0; channel < format.channels; channel++) sum += read(view, at + channel * format.bytes)
      piece[frame] = Math.round(sum / format.channels)
    }
    sound.push(piece, format.rate)
  }
  return true
}
