/** Steps that several states of a call have in common. */
import { CallCommand, type CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import { HOLD_MILLIS, LOOK_AGAIN_MILLIS, PATIENCE_MILLIS } from "./CallPatience.ts"
import { answeredFor, given, isUnjudged, type Talk, talkOf } from "./Talk.ts"

const { Closing, Ended, Held } = CallState.cases
const { CheckEnd, Hangup, Look, SetDeadline } = CallCommand.cases

export const to = (state: CallState, ...commands: ReadonlyArray<CallCommand>): Step => ({ state, commands })
export const lookAgain = SetDeadline.make({ afterMillis: LOOK_AGAIN_MILLIS })
export const checkEnd = CheckEnd.make({})
export const notLooked = { missed: 0, silences: 0 }
export const ringMillis = (limits: CallLimits) => limits.ringTimeoutSeconds * 1000 + PATIENCE_MILLIS

export const close = (cause: HangupCause, call: Talk & { readonly request: (typeof Closing.Type)["request"] }): Step =>
  to(Closing.make({ ...call, cause, ...notLooked }), lookAgain, Hangup.make({ cause }))

interface Unheard extends Talk {
  /** The cause for which we asked the provider to hang up, if we did. */
  readonly ours?: HangupCause
}
/** The end of a call for which no answer was reported. */
export const endUnanswered = ({ at, cause, toldAt }: typeof CallEvent.cases.HungUp.Type, { ours = cause, ...talk }: Unheard): Step => {
  if (!mayHideAnswer(cause) && talk.answeredAt === undefined) return to(Ended.make({ cause: ours, endedAt: at }))
  return hold(Held.make({ ...talk, cause: ours, endedAt: at, found: "unknown", ...given("toldAt", toldAt) }))
}

export const hold = (call: typeof Held.Type): Step => to(call, SetDeadline.make({ afterMillis: HOLD_MILLIS }), Look.make({}))

type Picked = Talk & { readonly answeredAt: number }

/** The end of an answered call. */
export const endAnswered = (call: Picked, { at, cause, toldAt }: typeof CallEvent.cases.HungUp.Type, limits: CallLimits): Step => {
  const answeredAt = answeredFor(call, at, toldAt)
  if (!isUnjudged(call, cause, limits)) return to(Ended.make({ answeredAt, cause, endedAt: at }))
  return hold(Held.make({ ...talkOf(call), answeredAt, cause, endedAt: at, found: "unknown" }))
}
