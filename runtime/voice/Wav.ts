/**
 * Reads WAV: PCM of 8 to 32 bits, 32-bit float, mu-law and A-law, with any number of channels. The lengths in the file are trusted only up to
 * its actual size, and memory is allocated only for one piece at a time.
 */
import { decodeSample } from "#core/audio/Mulaw.ts"
import { isPlayableRate, type PhoneSound } from "./PhoneSound.ts"

interface Format {
  readonly encoding: "pcm" | "float" | "alaw" | "mulaw"
  readonly channels: number
  readonly rate: number
  /** Bytes of one sample of one channel. */
  readonly bytes: number
  /** Bytes of one sample of all channels. */
  readonly stride: number
}

const maxChannels = 32
// Sample frames per piece: 2 MB of the file, with 32 channels of 4 bytes.
const pieceFrames = 16_384
// A WAVE_FORMAT_EXTENSIBLE has its actual format at the beginning of its GUID, at this offset of the chunk.
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
  const supported = encodings[tag]
  const channels = chunk.getUint16(2, true)
  const rate = chunk.getUint32(4, true)
  const stride = chunk.getUint16(12, true)
  const bits = chunk.getUint16(14, true)
  if (supported === undefined || !supported.bits.includes(bits) || !isPlayableRate(rate)) return undefined
  const bytes = bits / 8
  return channels < 1 || channels > maxChannels || stride !== channels * bytes
    ? undefined
    : { encoding: supported.encoding, channels, rate, bytes, stride }
}

/** The format of the file, and its samples. */
const open = (file: Uint8Array): { readonly format: Format; readonly data: Uint8Array } | undefined => {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  let format: Format | undefined
  // Chunks start at even offsets, and each step moves at least eight bytes on.
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

/** Reads one sample as PCM16. A float that is not a number becomes silence. */
const readerOf = ({ bytes, encoding }: Format): ((view: DataView, at: number) => number) => {
  switch (encoding) {
    case "alaw":
      return (view, at) => decodeAlaw(view.getUint8(at))
    case "mulaw":
      return (view, at) => decodeSample(view.getUint8(at))
    case "float":
      return (view, at) => Math.max(-1, Math.min(1, view.getFloat32(at, true) || 0)) * 32_767
    case "pcm":
      // Wider samples keep their upper 16 bits. Samples of 8 bits are unsigned.
      return bytes === 1 ? (view, at) => (view.getUint8(at) - 128) << 8 : (view, at) => view.getInt16(at + bytes - 2, true)
  }
}

/** Mixes all channels into one. False if the file is not a WAV, or has an unsupported format. */
export const readWav = (file: Uint8Array, sound: PhoneSound): boolean => {
  const wav = isWav(file) ? open(file) : undefined
  if (wav === undefined) return false
  const { data, format } = wav
  const read = readerOf(format)
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength)
  // An incomplete last sample is left out.
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
