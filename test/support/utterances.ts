/** What callees say, spoken by flite once and cut into the frames of a telephone line. */
import { decode, encodeFrames, frameSize, sampleRate, silence } from "#core/audio/Mulaw.ts"
import type { FliteVoice } from "#runtime/voice/FliteWasm.ts"
import type { Utterance } from "#test/emulators/shared/Talker.ts"
import { keptSpeech } from "./keptSpeech.ts"

const framesPerSecond = sampleRate / frameSize
const quiet = Buffer.alloc(frameSize, silence)

export interface SpokenUtterance extends Utterance {
  /** The parts between its pauses. */
  readonly parts: ReadonlyArray<{ readonly text: string; readonly frames: ReadonlyArray<Buffer> }>
}

/** `|` in a text is a pause of `pauseMillis`: "five five five | one two". */
export const makeMouth = () => {
  const spoken = new Map<string, ReadonlyArray<Buffer>>()
  const framesOf = (voice: FliteVoice, text: string): ReadonlyArray<Buffer> => {
    const key = `${voice} ${text}`
    const known = spoken.get(key)
    if (known !== undefined) return known
    const codes = Buffer.from(encodeFrames(keptSpeech(voice, text)))
    const frames = Array.from({ length: codes.length / frameSize }, (_, at) => codes.subarray(at * frameSize, (at + 1) * frameSize))
    spoken.set(key, frames)
    return frames
  }
  return (text: string, { pauseMillis = 500, voice = "kal16" as FliteVoice } = {}): SpokenUtterance => {
    const parts = text.split("|").map((part) => ({ text: part.trim(), frames: framesOf(voice, part.trim()) }))
    const pause = Array.from({ length: Math.round((pauseMillis / 1000) * framesPerSecond) }, () => quiet)
    return {
      text: parts.map((part) => part.text).join(" "),
      parts,
      frames: parts.flatMap(({ frames }, at) => (at === 0 ? frames : [...pause, ...frames]))
    }
  }
}

/** A frame as a recognizer gets it. */
export const heardOf = (frame: Buffer): Int16Array => decode(frame)
