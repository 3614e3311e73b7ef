/** A tone for the callee, and how loud and how pure what comes back is. */
import { setTimeout as sleep } from "node:timers/promises"
import type { MediaStream } from "#core/call/Media.ts"
import { fromMulaw, toMulaw } from "#test/emulators/ari/Sound.ts"

const FRAME_SAMPLES = 160
export const SAMPLE_RATE = 8_000
const FULL_SCALE = 32_635
/** So pitched that frames of 20 ms join without a step. */
export const OUR_HERTZ = 1_000
const OUR_PEAK = 8_000
export const OUR_LEVEL = 20 * Math.log10(OUR_PEAK / Math.SQRT2 / FULL_SCALE)
export const ourTone = Array.from({ length: FRAME_SAMPLES }, (_, n) => OUR_PEAK * Math.sin((2 * Math.PI * OUR_HERTZ * n) / SAMPLE_RATE))
const ourFrame = Uint8Array.from(ourTone, toMulaw)

/** Level in decibels of full scale, and how much of all the energy lies at one pitch. */
export const measure = (samples: ReadonlyArray<number>, hertz: number): { readonly level: number; readonly share: number } => {
  let energy = 0
  let real = 0
  let imaginary = 0
  samples.forEach((sample, n) => {
    energy += sample * sample
    real += sample * Math.cos((2 * Math.PI * hertz * n) / SAMPLE_RATE)
    imaginary += sample * Math.sin((2 * Math.PI * hertz * n) / SAMPLE_RATE)
  })
  const length = Math.max(1, samples.length)
  return {
    level: 10 * Math.log10(energy / length / FULL_SCALE ** 2 + 1e-12),
    share: (2 * (real * real + imaginary * imaginary)) / (length * Math.max(1, energy))
  }
}

/** Sends a tone in real time, and takes down what comes back meanwhile. */
export const exchange = async (stream: MediaStream, seconds: number) => {
  const heard: Array<number> = []
  let closed: string | undefined
  stream.listen({
    frame: (frame) => heard.push(...Array.from(frame, fromMulaw)),
    closed: (why) => {
      closed = why
    }
  })
  const began = performance.now()
  for (let sent = 0; sent < seconds * 50; sent++) {
    stream.send(ourFrame)
    await sleep(Math.max(0, began + (sent + 1) * 20 - performance.now()))
  }
  return { heard, closed }
}

/** The middle of a recording, where the tone is neither starting nor over. */
export const middle = (samples: ReadonlyArray<number>) =>
  samples.slice(Math.floor(samples.length / 4), Math.floor((samples.length * 3) / 4))
