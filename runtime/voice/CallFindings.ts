/** What a call found out: the keys the callee pressed, and who answered. */
import { withKey } from "#core/call/Dtmf.ts"
import type { AmdVerdict } from "./Amd.ts"

interface Digits {
  /** False when that is no key, or when there were too many. */
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
