/**
 * Finds the moment to leave a message: once the beep is over. Some machines never beep, and some turn out to be people, who say something and
 * wait: the message starts once either has been silent for long enough. If the callee never stops speaking, no message is left.
 */
import type { PcmFrame } from "#core/audio/PcmFrame.ts"
import { lowestGate, makeGate } from "./Amd.ts"
import { beepMillis, makeBeepDetector } from "./Beep.ts"
import { frameMillis } from "#core/audio/Mulaw.ts"

export type Moment = "speak" | "give_up"

export interface MessageMoment {
  /** Returns the moment once, with the frame that decides it. `tMillis` is in milliseconds on any clock. */
  readonly push: (frame: PcmFrame, tMillis: number) => Moment | undefined
}

/** A machine starts recording within this time, and the next tone of a series follows within it. */
const afterBeepMillis = 300
/** Longer than the pauses of a greeting, and than the pause before most beeps. */
const withoutBeepMillis = 3000
const longestGreetingMillis = 60_000
/** A callee that speaks for longer than this after a tone is not recording yet: a network's tones precede its announcement. */
const speechAfterBeepMillis = 400

/** `isBeeping`: the machine was detected by its beep. */
export const makeMessageMoment = (isBeeping: boolean): MessageMoment => {
  const isSpeech = makeGate()
  const tone = makeBeepDetector(lowestGate)
  let hasBeeped = isBeeping
  let speechMillis = 0
  let startedAt: number | undefined
  // Counted in frames, because the clock runs on while the process is stalled.
  let silentMillis = 0
  const hear = (frame: PcmFrame) => {
    const isLoud = isSpeech(frame.level)
    if (tone.push(frame) >= beepMillis) {
      hasBeeped = true
      speechMillis = 0
      return true
    }
    if (isLoud) speechMillis += frameMillis
    if (speechMillis > speechAfterBeepMillis) hasBeeped = false
    return isLoud
  }
  return {
    push: (frame, tMillis) => {
      startedAt ??= tMillis
      silentMillis = hear(frame) ? 0 : silentMillis + frameMillis
      if (silentMillis >= (hasBeeped ? afterBeepMillis : withoutBeepMillis)) return "speak"
      return tMillis - startedAt >= longestGreetingMillis ? "give_up" : undefined
    }
  }
}
