/**
 * Detects the beep of an answering machine: one steady tone. A vowel can look like a tone for some frames, but it glides and its loudness
 * changes, so frequency and level must hold over the whole beep and not only from one frame to the next. A key press is two tones at once, so it
 * is not a beep.
 */
import { frameMillis, sampleRate } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"

interface BeepDetector {
  /** Returns how long one tone has held, in milliseconds, including this frame. */
  readonly push: (frame: PcmFrame) => number
}

/** A tone that holds this long is a beep, or one of a network's announcement tones. */
export const beepMillis = 200

const lowestHz = 350
const highestHz = 2200
const driftHz = 15
/** Maximum ratio of a beep's loudest frame to its faintest. */
const swing = 1.6
/** Minimum share of the tone in a frame's power. Noise is the rest: a tenth of it at 10 dB. */
const leastShare = 0.88

/** The samples of the frame being examined. */
let samples: Int16Array = new Int16Array(0)
const sampleAt = (at: number): number => samples[at] ?? 0

/** Pisarenko's estimate: the frequency, in radians per sample, of the sine in white noise with the frame's correlations, if there is one. */
const roughFrequencyOf = (length: number): number | undefined => {
  let one = 0
  let two = 0
  for (let at = 2; at < length; at++) {
    one += sampleAt(at - 1) * (sampleAt(at) + sampleAt(at - 2))
    two += sampleAt(at) * sampleAt(at - 2)
  }
  one /= 2
  if (one === 0) return undefined
  const cosine = (two + Math.sqrt(two * two + 8 * one * one)) / (4 * one)
  return Math.abs(cosine) > 1 ? undefined : Math.acos(cosine)
}

// The correlation of the samples with a sine, a complex number held in two variables, so that nothing is allocated per frame.
let real = 0
let imaginary = 0
const correlate = (omega: number, from: number, until: number): void => {
  const step = 2 * Math.cos(omega)
  let [cosine, cosineBefore] = [Math.cos(omega * from), Math.cos(omega * (from - 1))]
  let [sine, sineBefore] = [Math.sin(omega * from), Math.sin(omega * (from - 1))]
  real = 0
  imaginary = 0
  for (let at = from; at < until; at++) {
    real += sampleAt(at) * cosine
    imaginary -= sampleAt(at) * sine
    ;[cosine, cosineBefore] = [step * cosine - cosineBefore, cosine]
    ;[sine, sineBefore] = [step * sine - sineBefore, sine]
  }
}
const phaseOf = (omega: number, from: number, until: number): number => {
  correlate(omega, from, until)
  return Math.atan2(imaginary, real)
}

/** Noise shifts the rough frequency by tens of hertz. The change of phase between the halves of the frame is accurate to a few hertz. */
const frequencyOf = (length: number): number | undefined => {
  const rough = roughFrequencyOf(length)
  if (rough === undefined) return undefined
  const half = length >> 1
  const turn = phaseOf(rough, half, 2 * half) - phaseOf(rough, 0, half)
  return rough + (turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI))) / half
}

/** The share of a frame's power that a sine explains, accurate to 5 % for the lowest tones. */
const shareOf = (omega: number, length: number): number => {
  let power = 0
  for (let at = 0; at < length; at++) power += sampleAt(at) ** 2
  if (power === 0) return 0
  correlate(omega, 0, length)
  return (2 * (real * real + imaginary * imaginary)) / (length * power)
}

/** The frequency of a frame that is a pure tone, otherwise undefined. */
const toneOf = (frame: PcmFrame): number | undefined => {
  samples = frame.samples
  const { length } = samples
  const omega = frequencyOf(length)
  if (omega === undefined) return undefined
  const hz = (omega * sampleRate) / (2 * Math.PI)
  return hz >= lowestHz && hz <= highestHz && shareOf(omega, length) >= leastShare ? hz : undefined
}

export const makeBeepDetector = (lowestLevel: number): BeepDetector => {
  let millis = 0
  let [lowest, highest, faintest, loudest] = [0, 0, 0, 0]
  const begin = (hz: number, level: number) => {
    millis = frameMillis
    lowest = highest = hz
    faintest = loudest = level
  }
  return {
    push: (frame) => {
      const { level } = frame
      const hz = level > lowestLevel ? toneOf(frame) : undefined
      if (hz === undefined) {
        millis = 0
        return 0
      }
      lowest = Math.min(lowest, hz)
      highest = Math.max(highest, hz)
      faintest = Math.min(faintest, level)
      loudest = Math.max(loudest, level)
      if (millis > 0 && highest - lowest <= driftHz && loudest <= faintest * swing) millis += frameMillis
      else begin(hz, level)
      return millis
    }
  }
}
