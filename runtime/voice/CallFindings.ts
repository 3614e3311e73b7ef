/** What a call found out: the keys the callee pressed, and who answered. */
import type { AmdVerdict } from "./Amd.ts"

interface Digits {
  /** False when that is no key, or when there were too many. */
  readonly press: (digit: string) => boolean
  readonly pressed: () => string
}

// A provider that repeats an event for ever must not fill the memory.
const maxDigits = 256

export const makeDigits = (): Digits => {
  let pressed = ""
  return {
    press: (digit) => {
      const isKey = /^[0-9*#A-D]$/.test(digit) && pressed.length < maxDigits
      if (isKey) pressed += digit
      return isKey
    },
    pressed: () => pressed
  }
}

/** What became of the message that was to be left; `cut`: the call ended in the middle of it. */
export type MessageFate = "left" | "cut" | "not_left"

/** For the run's `gathered_context`. */
export const gatheredOf = (
  digits: string,
  answeredBy: AmdVerdict | undefined,
  message?: MessageFate | undefined
): Readonly<Record<string, unknown>> => ({
  ...(digits === "" ? {} : { dtmf_digits: digits }),
  ...(answeredBy === undefined ? {} : { answered_by: answeredBy }),
  ...(message === undefined ? {} : { voicemail_message: message })
})
