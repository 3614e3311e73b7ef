/**
 * Detects pressed keys by their tones: two sines at once, found by Goertzel's algorithm in a window of 20 ms every 10 ms. Reports from the carrier
 * are more reliable, and preferred where it sends them; see `PressedKeys.ts`. The limits are a compromise: wider ones would hear keys in speech.
 * https://www.itu.int/rec/T-REC-Q.24
 */
import { frameSize, sampleRate } from "./Mulaw.ts"
import type { PcmFrame } from "./PcmFrame.ts"

interface DtmfTones {
  /** Returns a key once per press, with the frame at which its tones have been heard for long enough. */
  readonly push: (frame: PcmFrame) => string | undefined
}

const lowHertz = [697, 770, 852, 941]
const highHertz = [1209, 1336, 1477, 1633]
const keys = ["123A", "456B", "789C", "*0#D"]

/** Root mean square of a window. Quieter tones are echoes and crosstalk. */
const lowestLevel = 200
/** Share of the window's energy that both tones must have; the rest is noise or speech. At 0.6, an hour of speech yields false keys. */
const leastShare = 0.7
/** Limits of the ratio of the high tone's power to the low tone's: -7 dB and 9 dB. */
const leastTwist = 10 ** -0.7
const mostTwist = 10 ** 0.9
/** A tone's lead over the next strongest of its group: 6 dB. Neighbours are 70 Hz apart, and each leaks into the other at -10 dB. */
const leastLead = 4
/** A tone's octave, relative to the tone: voices have one, keys do not. -12 dB, because noise also has energy there. */
const mostOctave = 10 ** -1.2
/** An octave that is closer than this to another tone cannot be told from it. */
const clearHertz = 150
const windowsToPress = 2
const windowsToRelease = 2

const hop = frameSize / 2
const hamming = Float64Array.from({ length: frameSize }, (_, at) => 0.54 - 0.46 * Math.cos((2 * Math.PI * at) / (frameSize - 1)))
const sum = hamming.reduce((total, weight) => total + weight, 0)
const squares = hamming.reduce((total, weight) => total + weight * weight, 0)
/** Converts Goertzel's power to the energy of the tone in the window. */
const energyOfPower = (2 * squares) / (sum * sum)

const factorOf = (hertz: number): number => 2 * Math.cos((2 * Math.PI * hertz) / sampleRate)
const lowFactors = Float64Array.from(lowHertz, factorOf)
const highFactors = Float64Array.from(highHertz, factorOf)
const lowOctaves = Float64Array.from(lowHertz, (hertz) => factorOf(2 * hertz))
const highOctaves = Float64Array.from(highHertz, (hertz) => factorOf(2 * hertz))

// Shared by all calls: nothing else can run between writing and reading them.
const weighted = new Float64Array(frameSize)
const powers = new Float64Array(lowHertz.length)

/** Applies the window to the last half frame of `one` and half a frame of `other`, and returns the energy of both. */
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

/** The index of the strongest tone of a group, or -1 if none is clearly the strongest. */
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

/** The key whose tones fill the window that is in `weighted`. */
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
  /** The second half of the previous frame. */
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
      // A frame that is half filled by a tone has at least this level.
      const isLoud = level > lowestLevel / 2
      const first = onWindow(isLoud ? weigh(before, samples, 0) : 0)
      const second = onWindow(isLoud ? weigh(samples, samples, hop) : 0)
      for (let at = 0; at < hop; at++) before[at] = samples[at + hop] ?? 0
      return first ?? second
    }
  }
}
