/**
 * When a message can be left: once the beep is over. Some machines never beep, and some are people after all, who say something and wait: both
 * are spoken to when they have been silent for long enough. Whoever never stops is left alone.
 */
import { lowestGate, makeGate, rootMeanSquare } from "./Amd.ts"
import { beepMillis, makeBeepDetector } from "./Beep.ts"
import { frameMillis } from "./Mulaw.ts"

export type Moment = "speak" | "give_up"

export interface MessageMoment {
  /** Once, with the frame that settles it. `tMillis` is any clock that runs in milliseconds. */
  readonly push: (frame: Uint8Array, tMillis: number) => Moment | undefined
}

/** A recorder starts within this, and a series of tones goes on within it. */
const afterBeepMillis = 300
/** Longer than the pauses of a greeting, and than most take before their beep. */
const withoutBeepMillis = 3000
const longestGreetingMillis = 60_000
/** Who speaks on after a tone has not begun to record: the network's tones come before its announcement. */
const speechAfterBeepMillis = 400

/** `isBeeping`: it was the beep that gave the machine away. */
export const makeMessageMoment = (isBeeping: boolean): MessageMoment => {
  const isSpeech = makeGate()
  const tone = makeBeepDetector(lowestGate)
  let hasBeeped = isBeeping
  let speechMillis = 0
  let startedAt: number | undefined
  // By frames: the clock runs on while we stand still.
  let silentMillis = 0
  const hear = (frame: Uint8Array) => {
    const level = rootMeanSquare(frame)
    const isLoud = isSpeech(level)
    if (tone.push(frame, level) >= beepMillis) {
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
