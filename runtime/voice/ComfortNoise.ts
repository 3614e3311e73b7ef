/**
 * Faint pink noise, sent while the agent is silent. Some carriers treat a leg without media as dead, and a callee takes digital silence for
 * a lost line.
 */
import { encode, frameSize } from "#core/audio/Mulaw.ts"

const frames = 50
// Root mean square, about -60 dBFS: just above the smallest step of mu-law.
const level = 33
const octaves = 6

/** Pink noise by Voss's method: the sum of several noises, each renewed half as often as the previous one. */
const pink = (length: number): Float64Array => {
  // A fixed seed keeps recordings in tests the same each time.
  let seed = 1
  const white = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 0x80000000 - 1
  }
  const rows = Float64Array.from({ length: octaves }, white)
  return Float64Array.from({ length }, (_, index) => {
    for (let row = 0; row < octaves; row++) if (index % (1 << row) === 0) rows[row] = white()
    return rows.reduce((sum, value) => sum + value, 0)
  })
}

const noise = (() => {
  const raw = pink(frames * frameSize)
  const power = Math.sqrt(raw.reduce((sum, value) => sum + value * value, 0) / raw.length)
  return encode(Int16Array.from(raw, (value) => (value / power) * level))
})()

const views = Array.from({ length: frames }, (_, index) => noise.subarray(index * frameSize, (index + 1) * frameSize))

/** Repeats one second of noise. The frames are shared and must not be written to. */
export const comfortNoise = (turn: number): Uint8Array => views[turn % frames] ?? noise.subarray(0, frameSize)
