/**
 * Answering machine detection: people say "hello?" and wait, machines talk on, or beep. Decided from the callee's frames alone, while
 * the greeting is already being spoken to him: a person must not wait for the verdict.
 */
import { beepMillis, makeBeepDetector } from "./Beep.ts"
import { decodeSample, frameMillis, silence } from "./Mulaw.ts"

export type AmdVerdict = "human" | "machine" | "unknown"

export interface Amd {
  /**
   * The verdict, once, with the frame that settles it; undefined is one that has not arrived. `tMillis` is any clock that runs in milliseconds.
   */
  readonly push: (frame: Uint8Array | undefined, tMillis: number) => AmdVerdict | undefined
  /** It is the beep that has settled it. */
  readonly heardBeep: () => boolean
}

/** A person's greeting is no longer than this; whoever speaks on is a machine. */
const longestHelloMillis = 2500
/** The silence in which a person waits for an answer. Machines pause less between their sentences. */
const waitMillis = 700
/** Shorter is a click, not speech. */
const shortestSpeechMillis = 100
const noSpeechMillis = 10_000
const budgetMillis = 20_000

// Root mean squares. The lowest gate is about what a phone returns of our own voice (-42 dBFS), and well above a quiet line's noise.
export const lowestGate = 260
const gateOverNoise = 3
// The noise is the least that was heard in the last half to whole second: speech has gaps, a noisy line has none.
const noiseWindowFrames = 25
// Speech once begun goes on at a lower level, and through gaps within words.
const gateWithin = 0.5
// Noise that comes and goes is not all below a gate over its least: nothing that lies 16 dB below the loudest of late is speech.
const belowLoudest = 0.16
// Of the loudest, by each frame: 3 dB in 3.5 s.
const fading = 0.998
const hangoverMillis = 100
// A frame that has not arrived may be silence that is not sent, or a line or a process that stands still: it takes three for one of silence.
// Silence is counted by frames and not by the clock, which runs on while we stand still.
const absentMillis = frameMillis / 3

export const rootMeanSquare = (frame: Uint8Array): number => {
  let power = 0
  for (let at = 0; at < frame.length; at++) power += decodeSample(frame[at] ?? silence) ** 2
  return Math.sqrt(power / Math.max(1, frame.length))
}

/** Whether a frame is speech, by its energy over that of the line's noise. */
export const makeGate = () => {
  let least = Infinity
  let leastBefore = Infinity
  let frames = 0
  let loudest = 0
  let isOpen = false
  return (level: number): boolean => {
    if (frames++ % noiseWindowFrames === 0) {
      leastBefore = least
      least = Infinity
    }
    least = Math.min(least, level)
    const gate = Math.max(lowestGate, Math.min(least, leastBefore) * gateOverNoise)
    loudest = Math.max(level, loudest * fading)
    isOpen = level > Math.max(isOpen ? gate * gateWithin : gate, loudest * belowLoudest)
    return isOpen
  }
}

export const makeAmd = (): Amd => {
  const isSpeech = makeGate()
  const tone = makeBeepDetector(lowestGate)
  let startedAt: number | undefined
  let speechMillis = 0
  let silentMillis = 0
  let isSettled = false
  let isBeep = false

  const onSpeech = (): AmdVerdict | undefined => {
    // Short gaps belong to the speech around them.
    speechMillis += speechMillis === 0 ? frameMillis : Math.min(silentMillis + frameMillis, hangoverMillis)
    silentMillis = 0
    return speechMillis > longestHelloMillis ? "machine" : undefined
  }

  const onSilence = (millis: number): AmdVerdict | undefined => {
    silentMillis += millis
    if (silentMillis < waitMillis) return undefined
    if (speechMillis >= shortestSpeechMillis) return "human"
    speechMillis = 0
    return undefined
  }

  const hear = (frame: Uint8Array): AmdVerdict | undefined => {
    const level = rootMeanSquare(frame)
    isBeep = tone.push(frame, level) >= beepMillis
    return isSpeech(level) ? onSpeech() : onSilence(frameMillis)
  }

  return {
    heardBeep: () => isBeep,
    push: (frame, tMillis) => {
      if (isSettled) return undefined
      const waited = tMillis - (startedAt ??= tMillis)
      const heard = frame === undefined ? onSilence(absentMillis) : hear(frame)
      const isOver = waited >= budgetMillis || (speechMillis === 0 && waited >= noSpeechMillis)
      const verdict = (isBeep ? "machine" : undefined) ?? heard ?? (isOver ? "unknown" : undefined)
      isSettled = verdict !== undefined
      return verdict
    }
  }
}
