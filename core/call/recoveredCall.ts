/** Where a call is taken up again whose process has ended, by what is known of it. */
import { CallCommand, type CallLimits, CallState, type Step } from "./Call.ts"
import { close, lookAgain, notLooked, ringMillis, to } from "./steps.ts"
import { MISSES_TO_BELIEVE, RECOVERED_LOOK_MILLIS } from "./CallPatience.ts"
import { given } from "./Talk.ts"

const { Closing, Dialing, Muted, Ringing, Transferred } = CallState.cases
const { Hangup, Look, SetDeadline } = CallCommand.cases

const lookSoon = SetDeadline.make({ afterMillis: RECOVERED_LOOK_MILLIS })

/** Whether the provider has ever shown that a call requested by an earlier process exists. */
type Trace = "none" | "placed"

/**
 * A call whose request had been sent when the process that dialed it ended. That process's looks are not known, so the first look that does
 * not find the call counts as the last. A call that had shown itself is then over; one that had not may still appear until `giveUpAt`. One that
 * waits in the provider's queue is taken out of it: since it was sent, its campaign may have been paused, and its window closed.
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
 * A call that was answered when the process that carried it ended. Its audio is gone, so it is hung up. If it had ended before `aliveAt`, when that
 * process was certainly still alive, the provider's report counts.
 */
export const recoverAnswered = (answeredAt: number, aliveAt: number | undefined): Step =>
  to(
    Closing.make({ answeredAt, cause: "node_lost", request: "placed", ...given("aliveAt", aliveAt), ...notLooked }),
    lookSoon,
    Hangup.make({ cause: "node_lost" })
  )

/**
 * The audio of an answered call had ended before its process did: the callee has most likely hung up, and the report was still to come. It may have
 * ended before we heard of the answer.
 */
export const recoverMuted = (answeredAt: number, endedAt: number): Step => {
  const mutedAt = Math.max(answeredAt, endedAt)
  return to(Muted.make({ answeredAt, graceUntil: mutedAt, mutedAt, ...notLooked }), lookSoon)
}

/**
 * The callee was handed over, and the audio had ended, as it does for that: whoever rang meanwhile may have answered, and two people talk. If it
 * is told that nobody did, the callee has no agent to come back to. If the callee had hung up instead, a look says so.
 */
export const recoverHanded = (answeredAt: number, transfers: number): Step =>
  to(Transferred.make({ answeredAt, isAssumed: true, isRecovered: true, transfers, ...notLooked }), lookSoon)

/** An unanswered call left behind by a node of another name. Its events do not reach us, so nobody would talk to a callee who answers. */
export const recoverElsewhere = (limits: CallLimits, trace: Trace): Step =>
  close("node_lost", { request: trace === "placed" ? "placed" : "doubtful", ...(limits.queues === true ? { isUndialed: true } : {}) })
