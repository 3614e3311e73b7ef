/** Findings of a call for its run: the keys that the callee pressed, who answered, and whether a message was left. */
import { withKey } from "#core/call/Dtmf.ts"
import type { AmdVerdict } from "./Amd.ts"

interface Digits {
  /** False when this is not a key, or when too many have been pressed. */
  readonly press: (digit: string) => boolean
  readonly pressed: () => string
}

export const makeDigits = (): Digits => {
  let pressed = ""
  return {
    press: (digit) => {
      const before = pressed
      pressed = withKey(before, digit)
      return pressed !== before
    },
    pressed: () => pressed
  }
}

/** Whether the message was left. `cut`: the call ended in the middle of it. */
export type MessageFate = "left" | "cut" | "not_left"

/** The findings as entries of the run's `gathered_context`. */
export const gatheredOf = (
  digits: string,
  answeredBy: AmdVerdict | undefined,
  message?: MessageFate | undefined
): Readonly<Record<string, unknown>> => ({
  ...(digits === "" ? {} : { dtmf_digits: digits }),
  ...(answeredBy === undefined ? {} : { answered_by: answeredBy }),
  ...(message === undefined ? {} : { voicemail_message: message })
})
