/**
 * Which audio the next text of a recognizer is about. What was understood is not read again, unless what follows belongs to the same sentence: engines ask
 * for a text at pauses of a tenth of a second, which are also within words, and "Thurs" and "day" are understood as two others.
 */
import { frameMillis, frameSize, silence } from "#core/audio/Mulaw.ts"
import type { Heard } from "./Utterance.ts"

/** After a longer pause, what was said before it is not understood better; a longer sentence would be read too often. */
export const sentenceLimits = { pauseMillis: 500, frames: 10_000 / frameMillis }

/** What was said since this was understood, which was only after the rest had been taken. */
const beyond = (heard: Heard, understood: Heard): Heard => {
  const { span } = heard
  if (understood.span.until <= span.from || understood.span.until >= span.until) return heard
  const rest = { from: understood.span.until, until: span.until }
  return {
    ...heard,
    span: rest,
    audio: heard.audio.subarray((rest.from - span.from) * frameSize),
    fromMillis: rest.from * frameMillis,
    voicedMillis: Math.max(0, heard.voicedMillis - understood.voicedMillis)
  }
}

/** Both as one, with silence for what was not kept of the pause; undefined if they are not of one sentence. */
const joined = (told: Heard, next: Heard): Heard | undefined => {
  const span = { from: told.span.from, until: next.span.until }
  const isOne = next.newMillis - told.untilMillis <= sentenceLimits.pauseMillis && span.until - span.from <= sentenceLimits.frames
  if (!isOne || next.span.until <= told.span.until) return undefined
  const audio = new Uint8Array((span.until - span.from) * frameSize).fill(silence)
  audio.set(next.audio, (next.span.from - span.from) * frameSize)
  audio.set(told.audio)
  return { ...next, span, audio, fromMillis: told.fromMillis, voicedMillis: told.voicedMillis + next.voicedMillis }
}

interface About {
  readonly heard: Heard
  /** It goes on with what the last text was about. */
  readonly isWhole: boolean
}

export const makeSentenceMemory = () => {
  /** What was understood last, as it was taken. */
  let understood: Heard | undefined
  /** What the last text was about, while a text may replace it. */
  let told: Heard | undefined
  let settled = 0
  return {
    /** To be asked for when something is taken. */
    present: (): number => settled,
    /** What a text of what was taken should be about, now that everything before it has been read. */
    about: (taken: Heard): About => {
      const rest = understood === undefined ? taken : beyond(taken, understood)
      const whole = told === undefined ? undefined : joined(told, rest)
      return { heard: whole ?? rest, isWhole: whole !== undefined }
    },
    /** `mayGoOn`: after a pause. Returns whether its text takes the place of the last one, which has not been settled meanwhile. */
    understood: (taken: Heard, { heard, isWhole }: About, present: number, mayGoOn: boolean): boolean => {
      const isOpen = present === settled
      understood = taken
      told = mayGoOn && isOpen ? heard : undefined
      return isWhole && isOpen
    },
    /** What was told stands. */
    settle: (): void => {
      told = undefined
      settled++
    }
  }
}
