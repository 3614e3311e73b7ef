/**
 * The life of one outbound call:
 *
 *     Dialing --Rang--> Ringing --Answered--> Up --HungUp--> Ended
 *        |  |              |                  |'--we end it--> Closing --HungUp--> Ended
 *        |  |              |                  '--its audio is lost--> Muted --HungUp--> Ended; it comes back--> Up
 *        |  '--------------'--an end that may hide an answer--> Held --Answered, or nothing more--> Ended
 *        '--Refused--> Void: it was certainly never placed
 *
 * Any state except Ended and Void may end early. `transition` is the only code that moves a call. Void is final, and so is an end that the
 * provider reported: later events change nothing. An end that we only inferred still accepts the provider's report. An end that is only claimed
 * moves no call: it is checked. Exactly one deadline is set at any time, by the newest `SetDeadline`; one that passed just before it was replaced
 * does no harm.
 */
import { CallCommand, CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { type HangupCause, mayHideAnswer } from "#core/outcome/HangupCause.ts"
import {
  HOLD_MILLIS,
  LAST_WORD_MILLIS,
  LONGEST_HOLD_MILLIS,
  LOOK_AGAIN_MILLIS,
  MEDIA_GRACE_MILLIS,
  MISSES_TO_BELIEVE,
  MISSES_TO_BELIEVE_CLOSED,
  MISSES_TO_BELIEVE_IN_FLIGHT,
  PATIENCE_MILLIS,
  SILENCES_TO_BELIEVE,
  UNEXPLAINED_MILLIS
} from "./CallPatience.ts"
import { answeredFor, given, endBefore, isUnjudged, type Talk, talkOf } from "./Talk.ts"

const { Closing, Dialing, Ended, Held, Muted, Ringing, Up, Void } = CallState.cases
const { AttachVoice, CheckEnd, Hangup, Look, Originate, SetDeadline } = CallCommand.cases

export const to = (state: CallState, ...commands: ReadonlyArray<CallCommand>): Step => ({ state, commands })
export const lookAgain = SetDeadline.make({ afterMillis: LOOK_AGAIN_MILLIS })
const checkEnd = CheckEnd.make({})
const awaitLastWord = SetDeadline.make({ afterMillis: LAST_WORD_MILLIS })
export const notLooked = { missed: 0, silences: 0 }
export const ringMillis = (limits: CallLimits) => limits.ringTimeoutSeconds * 1000 + PATIENCE_MILLIS

/** A new call. */
export const dial = (limits: CallLimits, at: number): Step =>
  to(
    Dialing.make({ request: "inFlight", giveUpAt: at + ringMillis(limits), ...notLooked }),
    SetDeadline.make({ afterMillis: ringMillis(limits) }),
    Originate.make({})
  )

export const close = (cause: HangupCause, call: Talk & { readonly request: (typeof Closing.Type)["request"] }): Step =>
  to(Closing.make({ ...call, cause, ...notLooked }), lookAgain, Hangup.make({ cause }))

export const transition = (state: CallState, event: CallEvent, limits: CallLimits): Step =>
  CallState.match(state, {
    Dialing: (call) => dialing(call, event, limits),
    Ringing: (call) => ringing(call, event, limits),
    Held: (call) => held(call, event, limits),
    Up: (call) => up(call, event, limits),
    Muted: (call) => muted(call, event, limits),
    Closing: (call) => closing(call, event, limits),
    Ended: (call) => ended(call, event),
    Void: (call) => to(call)
  })

const answer = ({ giveUpAt }: Unanswered, { at, toldAt }: typeof CallEvent.cases.Answered.Type, limits: CallLimits): Step =>
  to(
    Up.make({ answeredAt: at, dialedAt: giveUpAt - ringMillis(limits), ...given("answerToldAt", toldAt) }),
    SetDeadline.make({ afterMillis: limits.maxDurationSeconds * 1000 }),
    AttachVoice.make({})
  )

const dialing = (call: typeof Dialing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(Dialing.make({ ...call, request: "accepted" })),
    Refused: ({ at, reason }) => to(Void.make({ at, reason })),
    Doubted: () => to(Dialing.make({ ...call, request: call.request === "accepted" ? "accepted" : "doubtful" }), lookAgain, Look.make({})),
    Rang: () => to(Ringing.make({ giveUpAt: call.giveUpAt, ...notLooked })),
    Answered: (event) => answer(call, event, limits),
    Judged: () => to(call),
    HungUp: (event) => endUnanswered(event, { dialedAt: call.giveUpAt - ringMillis(limits) }),
    EndClaimed: () => claimed(call),
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    EndAsked: ({ cause }) => close(cause, { request: call.request === "accepted" ? "placed" : call.request }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
        case "up":
          return found(call, presence, at)
        case "ended":
          return unexplained(call, at, limits)
        case "never_placed":
          // While the request may still be under way, the call's absence proves nothing.
          return call.request === "doubtful" ? to(Void.make({ at, reason: "unreachable" })) : missed(call, at, call.giveUpAt)
        case "gone":
          return missed(call, at, call.giveUpAt)
        case "silent":
          return unheard(call, at)
      }
    }
  })

const ringing = (call: typeof Ringing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call), // it rings, so it was placed
    Doubted: () => to(call),
    Rang: () => to(call), // late: providers repeat and reorder events
    Answered: (event) => answer(call, event, limits),
    Judged: () => to(call),
    HungUp: (event) => endUnanswered(event, { dialedAt: call.giveUpAt - ringMillis(limits), ...given("answeredAt", call.upAt) }),
    EndClaimed: () => claimed(call),
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    EndAsked: ({ cause }) => close(cause, { request: "placed", ...given("answeredAt", call.upAt) }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
        case "up":
          return found(call, presence, at)
        case "ended":
          return unexplained(call, at, limits)
        case "gone":
        case "never_placed":
          return missed(call, at, Number.NEGATIVE_INFINITY)
        case "silent":
          return unheard(call, at)
      }
    }
  })

type Unanswered = typeof Dialing.Type | typeof Ringing.Type

/** If it has ended, its record may not be there yet: looks that do not find it count afresh. */
const claimed = (call: Unanswered): Step => to({ ...call, missed: 0 }, checkEnd)

/** A look has found the call. */
const found = (call: Unanswered, presence: "ringing" | "up", at: number): Step => {
  const { giveUpAt } = call
  const upAt = upAtOf(call) ?? (presence === "up" ? at : undefined)
  // It was answered while its events did not reach us, so the callee has heard nothing.
  if (upAt !== undefined && at >= upAt + HOLD_MILLIS) return close("trunk_lost", { request: "placed", answeredAt: upAt })
  if (upAt !== undefined) return to(Ringing.make({ giveUpAt, upAt, ...notLooked }), SetDeadline.make({ afterMillis: HOLD_MILLIS }))
  // The provider should have ended it at the ring timeout.
  if (at >= giveUpAt) return close("ring_timeout", { request: "placed" })
  return to(Ringing.make({ giveUpAt, ...notLooked }), SetDeadline.make({ afterMillis: giveUpAt - at }))
}

/** The record says that it has ended, and not how, which may still be on its way. */
const unexplained = (call: Unanswered, at: number, limits: CallLimits): Step =>
  upAtOf(call) === undefined
    ? to(
        Held.make({ cause: "written_off", dialedAt: call.giveUpAt - ringMillis(limits), endedAt: at, found: "gone" }),
        SetDeadline.make({ afterMillis: UNEXPLAINED_MILLIS })
      )
    : missed(call, at, Number.NEGATIVE_INFINITY)

const upAtOf = (call: Unanswered) => (call._tag === "Ringing" ? call.upAt : undefined)

/** A call that was never seen has left no trace at all; of any other we only know that it is gone. */
const writeOff = (call: Unanswered, at: number): Step => {
  const upAt = upAtOf(call)
  if (upAt !== undefined) return to(Ended.make({ answeredAt: upAt, cause: "trunk_lost", endedAt: at, inferred: "gone" }))
  const isUnseen = call._tag === "Dialing" && call.request !== "accepted"
  return to(Ended.make({ cause: "written_off", endedAt: at, inferred: isUnseen ? "unseen" : "gone" }))
}

/**
 * Another look did not find the call. After enough of them, and not before `notBefore`, it is written off: there is no proof either way, so
 * the contact is never dialed again automatically.
 */
const missed = (call: Unanswered, at: number, notBefore: number): Step =>
  at >= notBefore && call.missed + 1 >= MISSES_TO_BELIEVE ? writeOff(call, at) : to({ ...call, missed: call.missed + 1 }, lookAgain)

const unheard = (call: Unanswered, at: number): Step =>
  call.silences + 1 >= SILENCES_TO_BELIEVE ? writeOff(call, at) : to({ ...call, silences: call.silences + 1 }, lookAgain)

interface Unheard extends Talk {
  /** The cause for which we asked the provider to hang up, if we did. */
  readonly ours?: HangupCause
}
/** The end of a call for which no answer was reported. */
const endUnanswered = ({ at, cause, toldAt }: typeof CallEvent.cases.HungUp.Type, { ours = cause, ...talk }: Unheard): Step => {
  if (!mayHideAnswer(cause) && talk.answeredAt === undefined) return to(Ended.make({ cause: ours, endedAt: at }))
  return hold(Held.make({ ...talk, cause: ours, endedAt: at, found: "unknown", ...given("toldAt", toldAt) }))
}

const hold = (call: typeof Held.Type): Step => to(call, SetDeadline.make({ afterMillis: HOLD_MILLIS }), Look.make({}))

const held = (call: typeof Held.Type, event: CallEvent, limits: CallLimits): Step => {
  const { answeredAt, cause, endedAt, found, toldAt } = call
  const isUnexplained = cause === "written_off"
  const over = to(Ended.make({ cause, endedAt, ...given("answeredAt", answeredAt) }))
  return CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call),
    Doubted: () => to(call),
    Rang: () => to(call),
    Answered: (event) => {
      const talk = { ...call, ...given("answerToldAt", event.toldAt) }
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
        : mayHideAnswer(again.cause) || answeredAt !== undefined
          ? to(call)
          : to(Ended.make({ cause: again.cause, endedAt })),
    EndClaimed: () => to(call, checkEnd),
    // There can be no audio without an answer.
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    // A machine that was detected had answered.
    EndAsked: (asked) => to(asked.cause === "machine_detected" ? Held.make({ ...call, cause: asked.cause }) : call),
    DeadlinePassed: ({ at }) => {
      const left = endedAt + LONGEST_HOLD_MILLIS - at
      if (found === "alive" && left <= 0) return close(cause, { request: "placed", ...given("answeredAt", answeredAt) })
      if (found === "gone" || left <= 0) return over
      return to(call, SetDeadline.make({ afterMillis: Math.min(left, HOLD_MILLIS) }), Look.make({}))
    },
    Looked: ({ at, presence }) => {
      switch (presence) {
        // The record is behind, or the call has not ended after all.
        case "ringing":
          return to(Held.make({ ...call, found: "alive" }), Hangup.make({ cause }))
        case "up":
          return to(Held.make({ ...call, answeredAt: answeredAt ?? Math.min(endedAt, at), found: "alive" }), Hangup.make({ cause }))
        case "ended":
        case "gone":
        case "never_placed":
          return at >= endedAt + HOLD_MILLIS ? over : to(Held.make({ ...call, found: "gone" }))
        case "silent":
          return at >= endedAt + LONGEST_HOLD_MILLIS ? over : to(call)
      }
    }
  })
}

type Picked = Talk & { readonly answeredAt: number }

/** The end of an answered call. */
const endAnswered = (call: Picked, { at, cause, toldAt }: typeof CallEvent.cases.HungUp.Type, limits: CallLimits): Step => {
  const answeredAt = answeredFor(call, at, toldAt)
  if (!isUnjudged(call, cause, limits)) return to(Ended.make({ answeredAt, cause, endedAt: at }))
  return hold(Held.make({ ...talkOf(call), answeredAt, cause, endedAt: at, found: "unknown" }))
}

const up = (call: typeof Up.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call),
    Doubted: () => to(call),
    Rang: () => to(call),
    Answered: () => to(call),
    Judged: () => to({ ...call, isJudged: true }),
    HungUp: (event) => endAnswered(call, event, limits),
    EndClaimed: () => to(call, checkEnd),
    MediaLost: ({ at, failed }) => {
      const state = Muted.make({ ...talkOf(call), mutedAt: at, graceUntil: failed ? at : at + MEDIA_GRACE_MILLIS, ...notLooked })
      return failed ? to(state, lookAgain, Look.make({})) : to(state, SetDeadline.make({ afterMillis: MEDIA_GRACE_MILLIS }))
    },
    MediaBack: () => to(call),
    EndAsked: ({ cause }) => close(cause, { request: "placed", ...talkOf(call) }),
    // The ring deadline may have passed while the answer was being handled.
    DeadlinePassed: ({ at }) =>
      at >= call.answeredAt + limits.maxDurationSeconds * 1000
        ? close("duration_exceeded", { request: "placed", ...talkOf(call) })
        : to(call),
    Looked: ({ at, presence }) =>
      presence === "ended"
        ? to(Muted.make({ ...talkOf(call), mutedAt: at, graceUntil: at, missed: 1, silences: 0 }), awaitLastWord)
        : to(call)
  })

const muted = (call: typeof Muted.Type, event: CallEvent, limits: CallLimits): Step => {
  const { answeredAt, mutedAt } = call
  return CallEvent.match(event, {
    Accepted: () => to(call),
    Refused: () => to(call),
    Doubted: () => to(call),
    Rang: () => to(call),
    Answered: () => to(call),
    Judged: () => to({ ...call, isJudged: true }),
    HungUp: (event) => endAnswered(call, event, limits),
    EndClaimed: () => to(call, checkEnd),
    MediaLost: () => to(call),
    MediaBack: ({ at }) =>
      to(Up.make(talkOf(call)), SetDeadline.make({ afterMillis: Math.max(0, answeredAt + limits.maxDurationSeconds * 1000 - at) })),
    EndAsked: ({ cause }) => close(cause, { request: "placed", ...talkOf(call) }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, deaf, presence }) => {
      switch (presence) {
        case "ringing":
        case "up":
          return at < call.graceUntil ? to(call) : close("media_failure", { request: "placed", ...talkOf(call) })
        case "ended":
        case "gone":
        case "never_placed":
          if (deaf) return unheardMuted(call, at)
          return call.missed > 0
            ? to(Ended.make({ answeredAt, cause: "normal_clearing", endedAt: mutedAt, inferred: "gone" }))
            : to(Muted.make({ ...call, missed: 1 }), awaitLastWord)
        case "silent":
          return unheardMuted(call, at)
      }
    }
  })
}

const unheardMuted = (call: typeof Muted.Type, at: number): Step =>
  call.silences + 1 >= SILENCES_TO_BELIEVE
    ? to(Ended.make({ answeredAt: call.answeredAt, cause: "trunk_lost", endedAt: at, inferred: "gone" }))
    : to(Muted.make({ ...call, silences: call.silences + 1 }), lookAgain)

const closing = (call: typeof Closing.Type, event: CallEvent, limits: CallLimits): Step => {
  const hangup = Hangup.make({ cause: call.cause })
  const shown = (): Step => (call.request === "placed" ? to(call) : to(Closing.make({ ...call, request: "placed" }), hangup))
  return CallEvent.match(event, {
    Accepted: () => to(Closing.make({ ...call, request: "placed" }), hangup), // asked to end before the provider knew of the call
    Refused: ({ at, reason }) => (call.request === "placed" ? to(call) : to(Void.make({ at, reason }))),
    Doubted: () => to(call.request === "placed" ? call : Closing.make({ ...call, request: "doubtful" })),
    Rang: shown,
    // Answered while we were hanging up: the call counts as answered.
    Answered: ({ at, toldAt }) => {
      const talk = { answeredAt: call.answeredAt ?? at, ...given("answerToldAt", call.answerToldAt ?? toldAt) }
      return to(Closing.make({ ...call, request: "placed", ...talk }), hangup)
    },
    Judged: () => to({ ...call, isJudged: true }),
    HungUp: (event) => {
      const { answeredAt, cause } = call
      if (answeredAt === undefined) return endUnanswered(event, { ours: cause })
      const own = endBefore(call.aliveAt, { ...call, answeredAt }, event.toldAt)
      return endAnswered({ ...call, answeredAt }, own === undefined ? { ...event, cause } : { ...event, at: own }, limits)
    },
    EndClaimed: () => to(call, checkEnd),
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    // Hang up again, because the first request may have been lost.
    EndAsked: () => to(call, hangup),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "ringing":
        case "up":
          return to(Closing.make({ ...call, request: "placed" }), lookAgain, hangup)
        case "never_placed":
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

/** An answered call that is not found has ended. For any other, the request may still be under way, so one look proves nothing. */
const closingMissed = (call: typeof Closing.Type, at: number): Step => {
  const enough = call.request === "inFlight" ? MISSES_TO_BELIEVE_IN_FLIGHT : MISSES_TO_BELIEVE_CLOSED
  return call.answeredAt !== undefined || call.missed + 1 >= enough
    ? closed(call, at)
    : to(Closing.make({ ...call, missed: call.missed + 1 }), lookAgain)
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
const ended = (call: typeof Ended.Type, event: CallEvent): Step => {
  if (call.inferred === undefined || event._tag !== "HungUp") return to(call)
  if (call.answeredAt === undefined && mayHideAnswer(event.cause)) return to(call)
  const { inferred: _, ...known } = call
  return to(Ended.make({ ...known, cause: isOurs(call.cause) ? call.cause : event.cause }))
}

/** The cause for which we ended the call stands, whatever the provider reports. */
const isOurs = (cause: HangupCause): boolean => cause !== "written_off" && cause !== "normal_clearing" && cause !== "trunk_lost"

const answeredOf = (call: { readonly answeredAt?: number }) => (call.answeredAt === undefined ? {} : { answeredAt: call.answeredAt })
