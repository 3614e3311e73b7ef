/** Tones of one pitch: how to play them, and how clearly they can be heard in a recording. */
import { setTimeout as sleep } from "node:timers/promises"
import { encodeSample, frameMillis, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"

const FULL_SCALE = 32_635
const PEAK = 8_000
export const LEVEL = 20 * Math.log10(PEAK / Math.SQRT2 / FULL_SCALE)
const WINDOW_SAMPLES = sampleRate / 8

/** A pitch whose frames join without a step: a multiple of 50. */
export const frameOf = (hertz: number): Uint8Array =>
  Uint8Array.from({ length: frameSize }, (_, n) => encodeSample(Math.round(PEAK * Math.sin((2 * Math.PI * hertz * n) / sampleRate))))

interface Sound {
  /** In decibels of full scale. */
  readonly level: number
  /** How much of all the energy lies at the pitch. */
  readonly share: number
}

const measure = (samples: ArrayLike<number>, hertz: number, from: number, length: number): Sound => {
  let energy = 0
  let real = 0
  let imaginary = 0
  for (let n = 0; n < length; n++) {
    const sample = samples[from + n] ?? 0
    energy += sample * sample
    real += sample * Math.cos((2 * Math.PI * hertz * n) / sampleRate)
    imaginary += sample * Math.sin((2 * Math.PI * hertz * n) / sampleRate)
  }
  return {
    level: 10 * Math.log10(energy / length / FULL_SCALE ** 2 + 1e-12),
    share: (2 * (real * real + imaginary * imaginary)) / (length * Math.max(1, energy))
  }
}

/**
 * The eighth of a second in which the pitch is clearest. On a busy machine, both ends stall repeatedly: what matters is that a sound arrives
 * unchanged, not that it never pauses.
 */
export const clearest = (samples: ArrayLike<number>, hertz: number): Sound => {
  let best: Sound = { level: Number.NEGATIVE_INFINITY, share: 0 }
  for (let from = 0; from + WINDOW_SAMPLES <= samples.length; from += frameSize) {
    const sound = measure(samples, hertz, from, WINDOW_SAMPLES)
    if (sound.share > best.share) best = sound
  }
  return best
}

/** How many frames of a recording are of this pitch. */
export const framesAt = (samples: ArrayLike<number>, hertz: number): number => {
  let count = 0
  for (let from = 0; from + frameSize <= samples.length; from += frameSize)
    if (measure(samples, hertz, from, frameSize).share > 0.5) count += 1
  return count
}

/** Plays a tone in real time until `isEnough`, which is checked every half second. */
export const speakUntil = async (stream: MediaStream, hertz: number, isEnough: () => Promise<boolean>): Promise<void> => {
  const frame = frameOf(hertz)
  const began = performance.now()
  for (let sent = 1; ; sent++) {
    stream.send(frame)
    if (sent % 25 === 0 && (await isEnough())) return
    await sleep(Math.max(0, began + sent * frameMillis - performance.now()))
  }
}
