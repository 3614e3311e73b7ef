/** Steps that several states of a call have in common. */
import { CallCommand, type CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import {
  HOLD_MILLIS,
  LAST_WORD_MILLIS,
  LOOK_AGAIN_MILLIS,
  LOOK_AT_QUEUE_MILLIS,
  PATIENCE_MILLIS,
  RECOVERED_LOOK_MILLIS
} from "./CallPatience.ts"
import { answeredFor, endedFor, given, isUnjudged, type Talk, talkOf } from "./Talk.ts"

const { Closing, Ended, Held, Muted, Transferred, Transferring, Up, Void } = CallState.cases
const { CheckEnd, Hangup, Look, SetDeadline } = CallCommand.cases

export const to = (state: CallState, ...commands: ReadonlyArray<CallCommand>): Step => ({ state, commands })
export const lookAgain = SetDeadline.make({ afterMillis: LOOK_AGAIN_MILLIS })
/** For a call whose events go to a process that has died. */
export const lookSoon = SetDeadline.make({ afterMillis: RECOVERED_LOOK_MILLIS })
export const lookAtQueue = SetDeadline.make({ afterMillis: LOOK_AT_QUEUE_MILLIS })
export const checkEnd = CheckEnd.make({})
export const notLooked = { missed: 0, silences: 0 }
export const ringMillis = (limits: CallLimits) => limits.ringTimeoutSeconds * 1000 + PATIENCE_MILLIS

type Closable = Talk & Pick<typeof Closing.Type, "request" | "isUndialed">
export const close = (cause: HangupCause, call: Closable): Step =>
  to(Closing.make({ ...call, cause, ...notLooked }), call.isUndialed === true ? lookAtQueue : lookAgain, Hangup.make({ cause }))

/** With one of these causes, the call may never have left the provider's queue. */
export const isCancel = (cause: HangupCause): boolean => cause === "originator_cancel" || cause === "ring_timeout"

/** It has been proven that the phone never rang, although the provider had the call. */
export const neverRang = (at: number): Step => to(Void.make({ at, reason: "permit_lapsed" }))

interface Unheard extends Talk {
  /** The cause for which we asked the provider to hang up, if we did. */
  readonly ours?: HangupCause
  readonly isUndialed?: true
}
/** The end of a call for which no answer was reported. */
export const endUnanswered = ({ at, cause, toldAt }: typeof CallEvent.cases.HungUp.Type, { ours = cause, ...talk }: Unheard): Step => {
  if (talk.isUndialed !== true && !mayHideAnswer(cause) && talk.answeredAt === undefined)
    return to(Ended.make({ cause: ours, endedAt: at }))
  return hold(Held.make({ ...talk, cause: ours, endedAt: at, found: "unknown", ...given("toldAt", toldAt) }))
}

const hold = (call: typeof Held.Type): Step => to(call, SetDeadline.make({ afterMillis: HOLD_MILLIS }), Look.make({}))

export type Picked = Talk & { readonly answeredAt: number }

/** How long the call may still last. */
export const leftMillis = ({ answeredAt }: Picked, at: number, { maxDurationSeconds }: CallLimits): number =>
  Math.max(0, answeredAt + maxDurationSeconds * 1000 - at)

/** The callee talks to the agent again. */
export const resumed = (call: Picked, at: number, limits: CallLimits): Step =>
  to(Up.make(talkOf(call)), SetDeadline.make({ afterMillis: leftMillis(call, at, limits) }))

export const tooLong = (call: Picked): Step => close("duration_exceeded", { request: "placed", ...talkOf(call) })

export const awaitLastWord = SetDeadline.make({ afterMillis: LAST_WORD_MILLIS })

/** The end of an answered call. `quietAt`: when the provider ended its audio. */
export const endAnswered = (call: Picked, event: typeof CallEvent.cases.HungUp.Type, limits: CallLimits, quietAt?: number): Step => {
  const { cause, toldAt } = event
  const endedAt = endedFor(call, event, quietAt)
  const answeredAt = answeredFor(call, endedAt, toldAt)
  if (!isUnjudged(call, cause, limits)) return to(Ended.make({ answeredAt, cause, endedAt }))
  return hold(Held.make({ ...talkOf(call), answeredAt, cause, endedAt, found: "unknown" }))
}

type Answered = typeof Up.Type | typeof Muted.Type | typeof Transferring.Type | typeof Transferred.Type

/** The events that mean the same to every answered call, whoever its callee is with. Each state answers the others itself. */
export const asAnswered = (call: Answered, limits: CallLimits) => {
  const unchanged = () => to(call)
  return {
    Accepted: unchanged,
    Queued: unchanged,
    Placed: unchanged,
    DialingWithdrawn: unchanged,
    Refused: unchanged,
    Doubted: unchanged,
    Rang: unchanged,
    // The audio may have shown the answer before the provider's report of it.
    Answered: ({ toldAt }: typeof CallEvent.cases.Answered.Type) => to({ ...call, ...given("answerToldAt", call.answerToldAt ?? toldAt) }),
    Judged: () => to({ ...call, isJudged: true }),
    HungUp: (event: typeof CallEvent.cases.HungUp.Type) => endAnswered(call, event, limits),
    EndClaimed: () => to(call, checkEnd),
    EndChecked: unchanged,
    EndAsked: ({ cause }: typeof CallEvent.cases.EndAsked.Type) => close(cause, { request: "placed", ...talkOf(call) })
  }
}
