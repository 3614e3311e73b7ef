/** The end of a call's life: we end it, its end is reported, and reports that may still arrive are awaited. */
import { CallCommand, CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import {
  HOLD_MILLIS,
  LONGEST_HOLD_MILLIS,
  LONGEST_PROOF_MILLIS,
  LONGEST_REPORT_MILLIS,
  MISSES_TO_BELIEVE_CLOSED,
  MISSES_TO_BELIEVE_IN_FLIGHT,
  SILENCES_TO_BELIEVE
} from "./CallPatience.ts"
import { checkEnd, close, endAnswered, endUnanswered, isCancel, lookAgain, lookAtQueue, lookSoon, neverRang, to } from "./steps.ts"
import { answeredFor, endBefore, given, isUnjudged } from "./Talk.ts"

const { Closing, Ended, Held, Void } = CallState.cases
const { Hangup, Look, SetDeadline } = CallCommand.cases

export const held = (call: typeof Held.Type, event: CallEvent, limits: CallLimits): Step => {
  const { answeredAt, cause, endedAt, found, isUndialed, toldAt } = call
  const isUnexplained = cause === "written_off"
  const longestMillis = isUndialed === true ? LONGEST_PROOF_MILLIS : LONGEST_HOLD_MILLIS
  const over = to(
    cause === "no_credit" && answeredAt === undefined
      ? Void.make({ at: endedAt, reason: "no_credit" })
      : Ended.make({ cause, endedAt, ...given("answeredAt", answeredAt) })
  )
  return CallEvent.match(event, {
    Accepted: () => to(call),
    Queued: () => to(call),
    Placed: () => to(dialed(call)),
    DialingWithdrawn: () => to(call),
    Refused: () => to(call),
    Doubted: () => to(call),
    Rang: () => to(dialed(call)),
    Answered: (event) => {
      const talk = { ...dialed(call), ...given("answerToldAt", event.toldAt) }
      const answered = {
        answeredAt: answeredFor(talk, endedAt, toldAt),
        cause: isUnexplained ? "normal_clearing" : cause,
        endedAt
      } as const
      return to(isUnjudged(call, cause, limits) ? Held.make({ ...talk, ...answered }) : Ended.make(answered))
    },
    Judged: () => (answeredAt === undefined ? to(Held.make({ ...call, isJudged: true })) : over),
    // A later report of the provider replaces the first one, unless answered calls end with its cause as well.
    HungUp: (again) =>
      isUnexplained
        ? endUnanswered(again, call)
        : mayHideAnswer(again.cause) || answeredAt !== undefined || (isUndialed === true && isCancel(again.cause))
          ? to(call)
          : to(Ended.make({ cause: again.cause, endedAt })),
    EndClaimed: () => to(call, checkEnd),
    EndChecked: () => to(call),
    // There can be no audio without an answer.
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    TransferAsked: () => to(call),
    Transferred: () => to(call),
    // A machine that was detected had answered.
    EndAsked: (asked) => to(asked.cause === "machine_detected" ? Held.make({ ...call, cause: asked.cause }) : call),
    DeadlinePassed: ({ at }) => {
      const left = endedAt + longestMillis - at
      if (found === "alive" && left <= 0) return close(cause, { request: "placed", ...given("answeredAt", answeredAt) })
      if (found === "gone" || left <= 0) return over
      return to(call, SetDeadline.make({ afterMillis: Math.min(left, HOLD_MILLIS) }), Look.make({}))
    },
    Looked: ({ at, presence }) => {
      switch (presence) {
        // The record lags behind, or the call has not ended after all.
        case "queued":
        case "ringing":
          return to(Held.make({ ...call, found: "alive" }), Hangup.make({ cause }))
        case "up":
          return to(Held.make({ ...dialed(call), answeredAt: answeredAt ?? Math.min(endedAt, at), found: "alive" }), Hangup.make({ cause }))
        case "ended":
        case "gone":
        case "never_placed":
          if (presence === "never_placed" && isUndialed === true) return neverRang(at)
          return at >= endedAt + HOLD_MILLIS ? over : to(Held.make({ ...call, found: "gone" }))
        case "silent":
          return at >= endedAt + longestMillis ? over : to(call)
      }
    }
  })
}

/** The call has left the provider's queue. */
const dialed = <Call extends { readonly isUndialed?: true }>({ isUndialed: _, ...call }: Call) => call

export const closing = (call: typeof Closing.Type, event: CallEvent, limits: CallLimits): Step => {
  const hangup = Hangup.make({ cause: call.cause })
  const shown = (seen = call): Step => (call.request === "placed" ? to(seen) : to(Closing.make({ ...seen, request: "placed" }), hangup))
  return CallEvent.match(event, {
    Accepted: () => to(Closing.make({ ...call, request: "placed" }), hangup), // asked to end before the provider knew of the call
    Queued: () => shown(),
    Placed: () => shown(dialed(call)),
    DialingWithdrawn: () => to(call),
    Refused: ({ at, reason }) => (call.request === "placed" ? to(call) : to(Void.make({ at, reason }))),
    Doubted: () => to(call.request === "placed" ? call : Closing.make({ ...call, request: "doubtful" })),
    Rang: () => shown(dialed(call)),
    // Answered while we were hanging up: the call counts as answered.
    Answered: ({ at, toldAt }) => {
      const talk = { answeredAt: call.answeredAt ?? at, ...given("answerToldAt", call.answerToldAt ?? toldAt) }
      return to(Closing.make({ ...dialed(call), request: "placed", ...talk }), hangup)
    },
    Judged: () => to({ ...call, isJudged: true }),
    HungUp: (event) => {
      const { answeredAt, cause, isUndialed } = call
      if (answeredAt === undefined && event.cause === "no_credit") return endUnanswered(event, {})
      if (answeredAt === undefined) return endUnanswered(event, { ours: cause, ...(isUndialed === true ? { isUndialed } : {}) })
      const own = endBefore(call.aliveAt, { ...call, answeredAt }, event.toldAt)
      return endAnswered(
        { ...call, answeredAt },
        own === undefined ? { ...event, cause } : { ...event, at: own },
        limits,
        own ?? call.quietAt
      )
    },
    EndClaimed: () => to(call, checkEnd),
    // Somebody says so, and we have hung up.
    EndChecked: ({ at }) => (call.answeredAt === undefined ? to(call) : closed(call, call.quietAt ?? at)),
    MediaLost: ({ at, failed }) => to(failed || call.quietAt !== undefined ? call : { ...call, quietAt: at }),
    MediaBack: () => to(call),
    TransferAsked: () => to(call),
    Transferred: () => to(call),
    // Hang up again, because the first request may have been lost.
    EndAsked: () => to(call, hangup),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "queued":
          return to(Closing.make({ ...call, request: "placed" }), call.isUndialed === true ? lookAtQueue : lookAgain, hangup)
        case "ringing":
        case "up":
          if (call.isUnheard === true) return seenUnheard(call, presence, at)
          return to(Closing.make({ ...dialed(call), request: "placed" }), lookAgain, hangup)
        case "never_placed":
          if (call.isUndialed === true && call.request !== "inFlight") return neverRang(at)
          return call.request === "doubtful" ? to(Void.make({ at, reason: "unreachable" })) : closingMissed(call, at)
        case "ended":
        case "gone":
          return closingMissed(call, at)
        case "silent":
          return call.silences + 1 >= SILENCES_TO_BELIEVE
            ? closed(call, at)
            : to(Closing.make({ ...call, silences: call.silences + 1 }), lookAgain)
      }
    }
  })
}

const seenUnheard = (call: typeof Closing.Type, presence: "ringing" | "up", at: number): Step => {
  const answeredAt = call.answeredAt ?? (presence === "up" ? at : undefined)
  return to(Closing.make({ ...call, request: "placed", ...given("answeredAt", answeredAt) }), lookSoon, Hangup.make({ cause: call.cause }))
}

/**
 * An answered call that is not found has ended. For any other, the request may still be under way, or the report of the end, so one look proves
 * nothing, unless it was there and no report can come.
 */
const closingMissed = (call: typeof Closing.Type, at: number): Step => {
  const enough = call.request === "inFlight" ? MISSES_TO_BELIEVE_IN_FLIGHT : MISSES_TO_BELIEVE_CLOSED
  const isOver = call.answeredAt !== undefined || (call.isUnheard === true && call.request === "placed")
  return isOver || call.missed + 1 >= enough ? closed(call, at) : to(Closing.make({ ...call, missed: call.missed + 1 }), lookAgain)
}

/** Without a trace of the call, we cannot claim to have ended it. */
const closed = (call: typeof Closing.Type, at: number): Step =>
  to(
    call.request === "placed"
      ? Ended.make({ ...answeredOf(call), cause: call.cause, endedAt: at, inferred: "gone" })
      : Ended.make({ cause: "written_off", endedAt: at, inferred: "unseen" })
  )

/**
 * Until it is recorded, an inferred end accepts the provider's report. Exception: a call without an answer ignores a cause that leaves open
 * whether it was answered.
 */
export const ended = (call: typeof Ended.Type, event: CallEvent): Step => {
  if (call.inferred === undefined || event._tag !== "HungUp") return to(call)
  if (call.answeredAt === undefined && mayHideAnswer(event.cause)) return to(call)
  const { answeredAt, cause, endedAt } = call
  const answer = answeredAt === undefined ? {} : { answeredAt: answeredFor(call, endedAt, event.toldAt) }
  return to(Ended.make({ ...answer, endedAt, cause: isOurs(cause) ? cause : event.cause }))
}

/**
 * Until when the record of an end waits for the provider's report of it, which knows the cause: only if we have inferred the end of a conversation
 * before such a report is due. The line is free already. Undefined: it does not wait.
 */
export const reportDueAt = ({ answeredAt, cause, endedAt, inferred }: typeof Ended.Type): number | undefined =>
  inferred === "gone" && answeredAt !== undefined && cause === "normal_clearing" ? endedAt + LONGEST_REPORT_MILLIS : undefined

/** The cause for which we ended the call stands, whatever the provider reports. */
const isOurs = (cause: HangupCause): boolean => cause !== "written_off" && cause !== "normal_clearing" && cause !== "trunk_lost"

const answeredOf = (call: { readonly answeredAt?: number }) => (call.answeredAt === undefined ? {} : { answeredAt: call.answeredAt })
