/**
 * When the callee speaks: voice begins after 60 ms of it, or more where the agent's echo could be taken for it, pauses after 100 ms without, and ends
 * after a hang-over, which is longer on a noisy line, where detectors drop frames within words. Time is counted in frames heard.
 */
import type { EchoMeter } from "./EchoMeter.ts"
import type { EnergyGate } from "./EnergyGate.ts"
import { frameMillis } from "./Mulaw.ts"
import type { PcmFrame } from "./PcmFrame.ts"

export type VoiceEvent = "started" | "paused" | "resumed" | "ended"

interface VoiceActivity {
  /** Returns what has changed with this frame. */
  readonly push: (frame: PcmFrame) => VoiceEvent | undefined
  /** How long ago the voice began, or stopped: the time that it took to be sure is part of it. */
  readonly changedMillisAgo: () => number
}

interface VoiceActivityOptions {
  readonly isVoice: (samples: Int16Array) => boolean
  readonly gate: EnergyGate
  /** The echo of what the agent says now; without it, there is none. */
  readonly echo?: Pick<EchoMeter, "decibels" | "expected">
  /** Whether the agent is speaking now. */
  readonly isInterrupting?: () => boolean
}

const startMillis = 60
/** While the agent speaks over a line with an echo: for the faintest echo that matters, and for one that is this loud or louder. */
const faintEcho = { decibels: -30, millis: 180 }
const loudEcho = { decibels: -15, millis: 240 }
/** Voice is louder than the echo: 6 dB. */
const overEcho = 2
const pauseMillis = 100
/** WebRTC's detector goes on for up to this after the last sound of a long voice. */
const detectorTailMillis = 100
/** A frame so much quieter than the voice is not part of it: 24 dB. */
const underVoice = 1 / 16
const quietHangoverMillis = 200
const noisyHangoverMillis = 400
/** Noise of which the gate knows nothing yet, and noise in which a third of all utterances would be split by the shorter hang-over. */
const quietNoise = 63
const loudNoise = 600

/** Grows with the loudness of the noise, in decibels. */
const hangoverOf = (noise: number): number => {
  const loudness = Math.log(Math.max(noise, quietNoise) / quietNoise) / Math.log(loudNoise / quietNoise)
  return quietHangoverMillis + Math.min(1, loudness) * (noisyHangoverMillis - quietHangoverMillis)
}

/** How much voice interrupts the agent, by the loudness of its echo. */
export const interruptMillis = (decibels: number | undefined): number => {
  if (decibels === undefined || decibels <= faintEcho.decibels) return startMillis
  const loudness = Math.min(1, (decibels - faintEcho.decibels) / (loudEcho.decibels - faintEcho.decibels))
  return faintEcho.millis + loudness * (loudEcho.millis - faintEcho.millis)
}

export const makeVoiceActivity = ({ echo, gate, isInterrupting, isVoice }: VoiceActivityOptions): VoiceActivity => {
  let state: "silent" | "speaking" | "paused" = "silent"
  let voicedMillis = 0
  let unvoicedMillis = 0
  /** The noise before the voice: the voice itself must not count as noise when it pauses. */
  let noiseBefore = 0
  /** The loudest frame of this voice, and how long ago a frame was nearly as loud. */
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
      // Both hear every frame, because both learn what the line sounds like.
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
