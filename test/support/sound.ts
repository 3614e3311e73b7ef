/** Sounds of a phone line, made from sines, speech and noise, and cut into frames. */
import { encode, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import { decodeInto, makePcmFrame, type PcmFrame } from "#core/audio/PcmFrame.ts"

export type Sound = ReadonlyArray<number> | Int16Array | Float64Array

/** A sum of sines of these frequencies and amplitudes. */
export const tone = (millis: number, ...parts: ReadonlyArray<readonly [hertz: number, amplitude: number]>): Float64Array =>
  Float64Array.from({ length: (millis * sampleRate) / 1000 }, (_, at) =>
    parts.reduce((sum, [hertz, amplitude]) => sum + amplitude * Math.sin((2 * Math.PI * hertz * at) / sampleRate), 0)
  )

export const nothing = (millis: number): Float64Array => new Float64Array((millis * sampleRate) / 1000)

/** White noise of this root mean square, the same for each seed. */
export const hiss = (millis: number, level: number, seed = 1): Float64Array => {
  let state = seed
  const white = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 0x80000000 - 1
  return Float64Array.from({ length: (millis * sampleRate) / 1000 }, () => white() * level * Math.sqrt(3))
}

export const after = (...sounds: ReadonlyArray<Sound>): Float64Array => {
  const all = new Float64Array(sounds.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const sound of sounds) {
    all.set(sound, at)
    at += sound.length
  }
  return all
}

/** Adds the two sounds, for the length of the first. */
export const over = (sound: Sound, other: Sound): Float64Array =>
  Float64Array.from(sound as ArrayLike<number>, (value, at) => value + (other[at] ?? 0))

export const levelOf = (sound: Sound): number => {
  let power = 0
  for (let at = 0; at < sound.length; at++) power += (sound[at] ?? 0) ** 2
  return Math.sqrt(power / Math.max(1, sound.length))
}

/** A frame of mu-law, decoded as listeners get it. */
export const pcm = (codes: Uint8Array): PcmFrame => {
  const frame = makePcmFrame()
  decodeInto(frame, codes)
  return frame
}

/** The samples as a line carries them. */
export const samplesOf = (sound: Sound): Int16Array =>
  Int16Array.from(sound as ArrayLike<number>, (value) => Math.max(-32768, Math.min(32767, Math.round(value))))
export const codesOf = (sound: Sound): Uint8Array => encode(samplesOf(sound))

/** The frames that listeners hear, after mu-law. Each frame is a new object. */
export const framesOf = function* (sound: Sound): Generator<PcmFrame> {
  const codes = codesOf(sound)
  for (let at = 0; at + frameSize <= codes.length; at += frameSize) {
    yield pcm(codes.subarray(at, at + frameSize))
  }
}

/** The tones of a key, 0 to 9, * or #, as phones generate them. */
export const keyTone = (key: string, millis: number): Float64Array => {
  const place = "123456789*0#".indexOf(key)
  return tone(millis, [[697, 770, 852, 941][Math.floor(place / 3)] ?? 0, 4000], [[1209, 1336, 1477][place % 3] ?? 0, 4000])
}
