/**
 * G.711 A-law by table, in both directions, for carriers that support nothing else: the engine's own audio is mu-law.
 * https://www.itu.int/rec/T-REC-G.711
 */
import * as Mulaw from "./Mulaw.ts"

/** Every second bit of a code is inverted on the line. */
const onTheLine = 0x55

// The standard's curve on 16 bits: two segments with equal steps, then six more, each with steps twice as wide as those before.
const decodeOne = (code: number): number => {
  const bits = code ^ onTheLine
  const segment = (bits & 0x70) >> 4
  const step = ((bits & 0x0f) << 4) + 8
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1)
  return (bits & 0x80) === 0 ? -magnitude : magnitude
}

const encodeOne = (sample: number): number => {
  const sign = sample < 0 ? 0 : 0x80
  // A negative value is encoded by its complement, because both halves have the same number of steps.
  const magnitude = sample < 0 ? ~sample : sample
  const segment = Math.max(0, 24 - Math.clz32(magnitude))
  const step = (magnitude >> (segment === 0 ? 4 : segment + 3)) & 0x0f
  return (sign | (segment << 4) | step) ^ onTheLine
}

const decoded = Int16Array.from({ length: 0x100 }, (_, code) => decodeOne(code))
// Indexed by the sample's 16 bits as an unsigned number.
const encoded = Uint8Array.from({ length: 0x10000 }, (_, bits) => encodeOne((bits << 16) >> 16))
const inMulaw = Uint8Array.from(decoded, Mulaw.encodeSample)
const ofMulaw = Uint8Array.from({ length: 0x100 }, (_, code) => encoded[Mulaw.decodeSample(code) & 0xffff] ?? 0)

/** The PCM16 value of an A-law byte. */
export const decodeSample = (code: number): number => decoded[code & 0xff] ?? 0

/** The A-law byte of a PCM16 value. */
export const encodeSample = (sample: number): number => encoded[sample & 0xffff] ?? 0

const each = (codes: Uint8Array, table: Uint8Array): Uint8Array => {
  const result = new Uint8Array(codes.length)
  for (let index = 0; index < codes.length; index++) result[index] = table[codes[index] ?? 0] ?? 0
  return result
}

/** Converts audio from a carrier that sends A-law to the engine's mu-law. */
export const toMulaw = (codes: Uint8Array): Uint8Array => each(codes, inMulaw)

/** Converts the engine's mu-law to A-law, for a carrier that expects it. */
export const fromMulaw = (codes: Uint8Array): Uint8Array => each(codes, ofMulaw)
