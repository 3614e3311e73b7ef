/**
 * Answering-machine detection: people say "hello?" and wait, machines talk on, or beep. The verdict comes from the callee's frames alone,
 * while the greeting is already being spoken: a person must not wait for it.
 */
import { beepMillis, makeBeepDetector } from "./Beep.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"
import type { PcmFrame } from "#core/audio/PcmFrame.ts"

export type AmdVerdict = "human" | "machine" | "unknown"

export interface Amd {
  /**
   * Returns the verdict once, with the frame that decides it. Pass undefined for a frame that has not arrived. `tMillis` is in milliseconds on
   * any clock.
   */
  readonly push: (frame: PcmFrame | undefined, tMillis: number) => AmdVerdict | undefined
  /** Whether a beep decided the verdict. */
  readonly heardBeep: () => boolean
}

/** A person's greeting is no longer than this; longer speech is a machine's. */
const longestHelloMillis = 2500
/** A person waits in silence this long for an answer. Machines pause for less between sentences. */
const waitMillis = 700
/** A shorter sound is a click, not speech. */
const shortestSpeechMillis = 100
const noSpeechMillis = 10_000
const budgetMillis = 20_000

// Root mean square. The lowest gate is about the level at which a phone echoes our own voice (-42 dBFS), and well above a quiet line's noise.
export const lowestGate = 260
const gateOverNoise = 3
// The noise level is the quietest frame of the last half to whole second: speech has gaps, a noisy line has none.
const noiseWindowFrames = 25
// Speech that has begun continues at a lower level, and through gaps within words.
const gateWithin = 0.5
// Fluctuating noise exceeds a gate above its quietest frame, so nothing 16 dB below the recent loudest frame counts as speech.
const belowLoudest = 0.16
// How the loudest level decays with each frame: 3 dB in 3.5 s.
const fading = 0.998
const hangoverMillis = 100
// A missing frame may be silence that is not sent, or a stalled line or process, so three missing frames count as one frame of silence. Silence
// is counted in frames, not by the clock, which runs on while the process is stalled.
const absentMillis = frameMillis / 3
// A line that has sent this much more silence than it left out sends all of its silence: a missing frame is then a stall, not silence. Codecs
// that suppress silence first send less than this (AMR eight frames, 3GPP TS 26.093).
const sentSilenceMillis = 240
/** On such a line, and in mid-speech, stalls are shorter than this. A longer gap counts as the silence of a person who is waiting. */
const longestStallMillis = 6000

/** Tells whether a frame is speech, by its level above the line's noise. */
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
  /** How much more silence was sent than left out since the last speech. */
  let sentMillis = 0
  let sendsSilence = false
  /** How much silence was sent since the last speech. */
  let quietMillis = 0
  /** The length of the current gap. */
  let missingMillis = 0
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

  const hear = (frame: PcmFrame): AmdVerdict | undefined => {
    missingMillis = 0
    isBeep = tone.push(frame) >= beepMillis
    const isLoud = isSpeech(frame.level)
    sentMillis = isLoud ? 0 : sentMillis + frameMillis
    quietMillis = isLoud ? 0 : quietMillis + frameMillis
    sendsSilence ||= sentMillis >= sentSilenceMillis
    return isLoud ? onSpeech() : onSilence(frameMillis)
  }

  /** Where silence is suppressed, the end of the last word is still sent: audio that stops within one has stalled. */
  const isMidSpeech = (): boolean => speechMillis > 0 && quietMillis === 0

  const miss = (): AmdVerdict | undefined => {
    sentMillis = Math.max(0, sentMillis - frameMillis)
    missingMillis += frameMillis
    if (!sendsSilence && !isMidSpeech()) return onSilence(absentMillis)
    return missingMillis > longestStallMillis ? onSilence(frameMillis) : undefined
  }

  return {
    heardBeep: () => isBeep,
    push: (frame, tMillis) => {
      if (isSettled) return undefined
      const waited = tMillis - (startedAt ??= tMillis)
      const heard = frame === undefined ? miss() : hear(frame)
      const isOver = waited >= budgetMillis || (speechMillis === 0 && waited >= noSpeechMillis)
      const verdict = (isBeep ? "machine" : undefined) ?? heard ?? (isOver ? "unknown" : undefined)
      isSettled = verdict !== undefined
      return verdict
    }
  }
}
