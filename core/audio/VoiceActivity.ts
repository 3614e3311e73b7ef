/**
 * Detects when the callee speaks. Voice starts after 60 ms of it, or more where the agent's echo could be mistaken for it; pauses after 100 ms
 * without voice; and ends after a hangover, which is longer on a noisy line, where detectors drop frames within words. Time is counted in frames.
 */
import type { EchoMeter } from "./EchoMeter.ts"
import type { EnergyGate } from "./EnergyGate.ts"
import { frameMillis } from "./Mulaw.ts"
import type { PcmFrame } from "./PcmFrame.ts"

export type VoiceEvent = "started" | "paused" | "resumed" | "ended"

interface VoiceActivity {
  /** Returns what this frame has changed. */
  readonly push: (frame: PcmFrame) => VoiceEvent | undefined
  /** How long ago the voice started or stopped, including the time that it took to detect that. */
  readonly changedMillisAgo: () => number
}

interface VoiceActivityOptions {
  readonly isVoice: (samples: Int16Array) => boolean
  readonly gate: EnergyGate
  /** The echo of what the agent is saying. Without it, the line counts as free of echo. */
  readonly echo?: Pick<EchoMeter, "decibels" | "expected">
  /** Whether the agent is speaking now. */
  readonly isInterrupting?: () => boolean
}

const startMillis = 60
/** How much voice interrupts the agent on a line with an echo: for the faintest echo that matters, and for one at least this loud. */
const faintEcho = { decibels: -30, millis: 180 }
const loudEcho = { decibels: -15, millis: 240 }
/** Voice must be louder than the expected echo by 6 dB. */
const overEcho = 2
const pauseMillis = 100
/** WebRTC's detector keeps reporting voice for up to this long after the last sound of a long utterance. */
const detectorTailMillis = 100
/** A frame that is quieter than the voice by 24 dB is not part of it. */
const underVoice = 1 / 16
const quietHangoverMillis = 200
const noisyHangoverMillis = 400
/** Levels of noise: what the gate assumes at first, and one at which the shorter hangover would split a third of all utterances. */
const quietNoise = 63
const loudNoise = 600

/** The hangover grows with the level of the noise in decibels. */
const hangoverOf = (noise: number): number => {
  const loudness = Math.log(Math.max(noise, quietNoise) / quietNoise) / Math.log(loudNoise / quietNoise)
  return quietHangoverMillis + Math.min(1, loudness) * (noisyHangoverMillis - quietHangoverMillis)
}

/** How much voice it takes to interrupt the agent, given the level of its echo. */
export const interruptMillis = (decibels: number | undefined): number => {
  if (decibels === undefined || decibels <= faintEcho.decibels) return startMillis
  const loudness = Math.min(1, (decibels - faintEcho.decibels) / (loudEcho.decibels - faintEcho.decibels))
  return faintEcho.millis + loudness * (loudEcho.millis - faintEcho.millis)
}

export const makeVoiceActivity = ({ echo, gate, isInterrupting, isVoice }: VoiceActivityOptions): VoiceActivity => {
  let state: "silent" | "speaking" | "paused" = "silent"
  let voicedMillis = 0
  let unvoicedMillis = 0
  /** The noise before the voice started, because the voice itself must not count as noise when it pauses. */
  let noiseBefore = 0
  /** The loudest frame of this utterance, and the time since a frame was nearly as loud. */
  let loudest = 0
  let quietMillis = 0

  const neededMillis = () => (isInterrupting?.() === true ? interruptMillis(echo?.decibels()) : startMillis)

  const onVoice = (): VoiceEvent | undefined => {
    voicedMillis += frameMillis
    unvoicedMillis = 0
    if (state === "paused") {
      state = "speaking"
      return "resumed"
    }
    if (state === "speaking" || voicedMillis < neededMillis()) return undefined
    state = "speaking"
    noiseBefore = gate.noise()
    return "started"
  }
  const onSilence = (): VoiceEvent | undefined => {
    unvoicedMillis += frameMillis
    voicedMillis = 0
    if (state === "speaking" && unvoicedMillis >= pauseMillis) {
      state = "paused"
      return "paused"
    }
    if (state !== "paused" || unvoicedMillis < hangoverOf(noiseBefore)) return undefined
    state = "silent"
    return "ended"
  }

  return {
    push: (frame) => {
      // Gate and detector get every frame, because both adapt to the line.
      if (state === "silent" && voicedMillis === 0) loudest = 0
      loudest = Math.max(loudest, frame.level)
      quietMillis = frame.level >= loudest * underVoice ? 0 : quietMillis + frameMillis
      const isLoud = gate.push(frame.level) && frame.level >= overEcho * (echo?.expected() ?? 0)
      return isVoice(frame.samples) && isLoud ? onVoice() : onSilence()
    },
    changedMillisAgo: () =>
      state === "speaking" ? voicedMillis : Math.max(unvoicedMillis, Math.min(quietMillis, unvoicedMillis + detectorTailMillis))
  }
}
