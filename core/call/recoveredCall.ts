/** The state in which a call resumes after its process has ended, depending on what is known of it. */
import { CallCommand, type CallLimits, CallState, type Step } from "./Call.ts"
import { close, lookAgain, lookSoon, notLooked, ringMillis, to } from "./steps.ts"
import { MISSES_TO_BELIEVE } from "./CallPatience.ts"
import { given } from "./Talk.ts"

const { Closing, Dialing, Muted, Ringing, Transferred } = CallState.cases
const { Hangup, Look } = CallCommand.cases

/** Whether the provider has ever shown that a call requested by an earlier process exists. */
type Trace = "none" | "placed"

/**
 * A call whose request had been sent when the process that dialed it ended. That process's looks are not known, so the first look that does
 * not find the call counts as the last. A call that the provider had shown to exist is then over; any other may still appear until `giveUpAt`. A
 * call in the provider's queue is removed from it: since it was sent, its campaign may have been paused, or its window may have closed.
 */
export const recoverSent = (limits: CallLimits, sentAt: number, trace: Trace): Step => {
  const giveUpAt = sentAt + ringMillis(limits)
  const looks = { missed: MISSES_TO_BELIEVE - 1, silences: 0 }
  if (limits.queues === true) {
    const request = trace === "placed" ? "accepted" : "doubtful"
    return to(Dialing.make({ request, giveUpAt, isWithdrawn: true, ...looks }), lookAgain, Look.make({}))
  }
  return trace === "placed"
    ? to(Ringing.make({ giveUpAt, ...looks }), lookAgain, Look.make({}))
    : to(Dialing.make({ request: "doubtful", giveUpAt, ...looks }), lookAgain, Look.make({}))
}

/**
 * A call that was up when its process ended. Its audio is gone, so it is hung up. If it had ended before `aliveAt`, when that process was
 * certainly still alive, the provider's report counts.
 */
export const recoverAnswered = (answeredAt: number, aliveAt: number | undefined): Step =>
  to(
    Closing.make({ answeredAt, cause: "node_lost", request: "placed", ...given("aliveAt", aliveAt), ...notLooked }),
    lookSoon,
    Hangup.make({ cause: "node_lost" })
  )

/**
 * The audio of an answered call had ended before its process did: most likely, the callee had hung up and the report had not arrived yet. It may
 * have ended before we learned of the answer.
 */
export const recoverMuted = (answeredAt: number, endedAt: number): Step => {
  const mutedAt = Math.max(answeredAt, endedAt)
  return to(Muted.make({ answeredAt, graceUntil: mutedAt, mutedAt, ...notLooked }), lookSoon)
}

/**
 * The callee was being transferred, which ends the audio: the destination may have answered since, and two people may be talking. If the
 * provider reports that nobody answered, the callee has no agent to come back to. If the callee had hung up instead, a look shows it.
 */
export const recoverHanded = (answeredAt: number, transfers: number): Step =>
  to(Transferred.make({ answeredAt, isAssumed: true, isRecovered: true, transfers, ...notLooked }), lookSoon)

/**
 * An unanswered call left behind by a node with another name, where nobody would talk to a callee who answers. `isUnheard`: its events do not reach
 * us. Then it is looked up before it is hung up: whether it existed can only be seen while it does.
 */
export const recoverElsewhere = (limits: CallLimits, trace: Trace, isUnheard: boolean): Step => {
  const request = trace === "placed" ? "placed" : "doubtful"
  return isUnheard
    ? to(Closing.make({ cause: "node_lost", isUnheard, request, ...notLooked }), lookAgain, Look.make({}))
    : close("node_lost", { request, ...(limits.queues === true ? { isUndialed: true } : {}) })
}
