/** A tone for the callee, and the purity of what comes back. */
import { setTimeout as sleep } from "node:timers/promises"
import type { MediaStream } from "#core/provider/Media.ts"
import { fromMulaw, toMulaw } from "#test/emulators/ari/Sound.ts"

const FRAME_SAMPLES = 160
export const SAMPLE_RATE = 8_000
/** A pitch at which frames of 20 ms join without a step. */
export const OUR_HERTZ = 1_000
const OUR_PEAK = 8_000
const ourTone = Array.from({ length: FRAME_SAMPLES }, (_, n) => OUR_PEAK * Math.sin((2 * Math.PI * OUR_HERTZ * n) / SAMPLE_RATE))
const ourFrame = Uint8Array.from(ourTone, toMulaw)

/** The share of the energy at one pitch. */
const shareOf = (samples: ReadonlyArray<number>, hertz: number): number => {
  let energy = 0
  let real = 0
  let imaginary = 0
  samples.forEach((sample, n) => {
    energy += sample * sample
    real += sample * Math.cos((2 * Math.PI * hertz * n) / SAMPLE_RATE)
    imaginary += sample * Math.sin((2 * Math.PI * hertz * n) / SAMPLE_RATE)
  })
  return (2 * (real * real + imaginary * imaginary)) / (Math.max(1, samples.length) * Math.max(1, energy))
}

/** Longer than any busy machine needs. */
const PATIENCE_MILLIS = 600_000

/** Sends a tone in real time, and records what comes back, for this time and until as much has arrived. */
export const exchange = async (stream: MediaStream, seconds: number) => {
  const heard: Array<number> = []
  let closed: string | undefined
  stream.listen({
    frame: (frame) => heard.push(...Array.from(frame, fromMulaw)),
    closed: (_, why) => {
      closed = why
    }
  })
  const began = performance.now()
  const isShort = () => heard.length < seconds * SAMPLE_RATE && performance.now() - began < PATIENCE_MILLIS
  for (let sent = 0; sent < seconds * 50 || (isShort() && closed === undefined); sent++) {
    stream.send(ourFrame)
    await sleep(Math.max(0, began + (sent + 1) * 20 - performance.now()))
  }
  return { heard, closed }
}

/** Sends a tone in real time until `isEnough`, which is checked twice a second. */
export const speakUntil = async (stream: MediaStream, isEnough: () => Promise<boolean>) => {
  const began = performance.now()
  for (let sent = 0; sent % 25 !== 0 || !(await isEnough()); sent++) {
    if (performance.now() - began > PATIENCE_MILLIS) throw new Error(`not enough within ${PATIENCE_MILLIS} ms`)
    stream.send(ourFrame)
    await sleep(Math.max(0, began + (sent + 1) * 20 - performance.now()))
  }
}

const WINDOW_SAMPLES = SAMPLE_RATE / 8
const STEP_SAMPLES = FRAME_SAMPLES

/**
 * The purity of the clearest eighth of a second of a recording. On a busy machine both ends stall repeatedly: what matters is that the
 * sound arrives unchanged, not that it never pauses.
 */
export const clearest = (samples: ReadonlyArray<number>, hertz: number) => {
  let share = 0
  for (let at = 0; at + WINDOW_SAMPLES <= samples.length; at += STEP_SAMPLES)
    share = Math.max(share, shareOf(samples.slice(at, at + WINDOW_SAMPLES), hertz))
  return share
}
