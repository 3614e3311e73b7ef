/** A call's findings for its run: the keys that the callee pressed, who answered, and whether a message was left. */
import { withKey } from "#core/call/Dtmf.ts"
import type { GatheredContext } from "#core/run/RunRecord.ts"
import type { AmdVerdict } from "./Amd.ts"

interface Digits {
  /** False if this is not a key, or if too many have been pressed. */
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

/** What happened to the message that was to be left; `cut`: the call ended while it was being spoken. */
type MessageFate = NonNullable<GatheredContext["voicemail_message"]>

/** What the voice session adds to the run's `gathered_context`. */
export type VoiceFindings = Pick<GatheredContext, "dtmf_digits" | "answered_by" | "voicemail_message">

export const gatheredOf = (digits: string, answeredBy?: AmdVerdict, message?: MessageFate): VoiceFindings => ({
  ...(digits === "" ? {} : { dtmf_digits: digits }),
  ...(answeredBy === undefined ? {} : { answered_by: answeredBy }),
  ...(message === undefined ? {} : { voicemail_message: message })
})
