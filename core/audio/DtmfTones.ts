/**
 * Detects the keys that a callee presses by their tones: two sines at once, by Goertzel's algorithm on 20 ms every 10 ms. Where the carrier
 * reports keys, that is more reliable; see `PressedKeys.ts`. Its limits are a compromise: wider ones hear keys in speech.
 * https://www.itu.int/rec/T-REC-Q.24
 */
import { frameSize, sampleRate } from "./Mulaw.ts"
import type { PcmFrame } from "./PcmFrame.ts"

interface DtmfTones {
  /** Returns the key whose tones are heard for long enough with this frame; once for each press. */
  readonly push: (frame: PcmFrame) => string | undefined
}

const lowHertz = [697, 770, 852, 941]
const highHertz = [1209, 1336, 1477, 1633]
const keys = ["123A", "456B", "789C", "*0#D"]

/** Of the window, root mean square; quieter tones are echoes and crosstalk. */
const lowestLevel = 200
/** How much of the window's energy both tones must have; the rest is noise, or speech. With 0.6, keys are heard in an hour of speech. */
const leastShare = 0.7
/** The high tone to the low one, as a ratio of powers: -7 dB and 9 dB. */
const leastTwist = 10 ** -0.7
const mostTwist = 10 ** 0.9
/** A tone to the next best of its group: 6 dB. Neighbours are 70 Hz apart, and each leaks into the other at -10 dB. */
const leastLead = 4
/** A tone's octave to the tone: a voice has it, a key has not. -12 dB, because noise has it as well. */
const mostOctave = 10 ** -1.2
/** Nearer to another tone than this, an octave cannot be told from it. */
const clearHertz = 150
const windowsToPress = 2
const windowsToRelease = 2

const hop = frameSize / 2
const hamming = Float64Array.from({ length: frameSize }, (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (frameSize - 1)))
const sum = hamming.reduce((total, weight) => total + weight, 0)
const squares = hamming.reduce((total, weight) => total + weight * weight, 0)
/** From Goertzel's power to the energy that the tone has in the window. */
const energyOfPower = (2 * squares) / (sum * sum)

const factorOf = (hertz: number): number => 2 * Math.cos((2 * Math.PI * hertz) / sampleRate)
const lowFactors = Float64Array.from(lowHertz, factorOf)
const highFactors = Float64Array.from(highHertz, factorOf)
const lowOctaves = Float64Array.from(lowHertz, (hertz) => factorOf(2 * hertz))
const highOctaves = Float64Array.from(highHertz, (hertz) => factorOf(2 * hertz))

// Shared by all calls: they are read before anything else can run.
const weighted = new Float64Array(frameSize)
const powers = new Float64Array(lowHertz.length)

/** Weighs the first half of one and a half of the other, and returns the energy of both. */
const weigh = (one: Int16Array, other: Int16Array, otherFrom: number): number => {
  let energy = 0
  for (let at = 0; at < frameSize; at++) {
    const value = ((at < hop ? one[at] : other[otherFrom + at - hop]) ?? 0) * (hamming[at] ?? 0)
    weighted[at] = value
    energy += value * value
  }
  return energy
}

const powerOf = (factor: number): number => {
  let [one, two] = [0, 0]
  for (let at = 0; at < frameSize; at++) {
    const next = (weighted[at] ?? 0) + factor * one - two
    two = one
    one = next
  }
  return one * one + two * two - factor * one * two
}

/** The strongest of a group, or -1 when it is not clearly the strongest. */
const strongestOf = (factors: Float64Array): number => {
  let best = 0
  for (let index = 0; index < factors.length; index++) {
    powers[index] = powerOf(factors[index] ?? 0)
    if ((powers[index] ?? 0) > (powers[best] ?? 0)) best = index
  }
  for (let index = 0; index < factors.length; index++)
    if (index !== best && (powers[index] ?? 0) * leastLead > (powers[best] ?? 0)) return -1
  return best
}

const hasOctave = (power: number, octaveFactor: number): boolean => powerOf(octaveFactor) > power * mostOctave

/** The key whose tones fill the window, which is in `weighted`. */
const keyOf = (energy: number): string | undefined => {
  if (energy < lowestLevel * lowestLevel * squares) return undefined
  const low = strongestOf(lowFactors)
  const lowPower = powers[low] ?? 0
  if (low < 0) return undefined
  const high = strongestOf(highFactors)
  const highPower = powers[high] ?? 0
  if (high < 0 || highPower < lowPower * leastTwist || highPower > lowPower * mostTwist) return undefined
  if ((lowPower + highPower) * energyOfPower < leastShare * energy) return undefined
  if (hasOctave(highPower, highOctaves[high] ?? 0)) return undefined
  const isOctaveClear = Math.abs(2 * (lowHertz[low] ?? 0) - (highHertz[high] ?? 0)) >= clearHertz
  if (isOctaveClear && hasOctave(lowPower, lowOctaves[low] ?? 0)) return undefined
  return keys[low]?.[high]
}

export const makeDtmfTones = (): DtmfTones => {
  /** The second half of the frame before. */
  const before = new Int16Array(hop)
  let candidate: string | undefined
  let hits = 0
  let misses = 0
  let held: string | undefined

  const onWindow = (energy: number): string | undefined => {
    const key = keyOf(energy)
    hits = key === candidate ? hits + 1 : 1
    candidate = key
    misses = key === held ? 0 : misses + 1
    if (misses >= windowsToRelease) held = undefined
    if (key === undefined || key === held || hits < windowsToPress) return undefined
    held = key
    misses = 0
    return key
  }

  return {
    push: ({ level, samples }) => {
      // A frame of which half is tone has this level at least.
      const isLoud = level > lowestLevel / 2
      const first = onWindow(isLoud ? weigh(before, samples, 0) : 0)
      const second = onWindow(isLoud ? weigh(samples, samples, hop) : 0)
      for (let at = 0; at < hop; at++) before[at] = samples[at + hop] ?? 0
      return first ?? second
    }
  }
}
