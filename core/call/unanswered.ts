/** The part of a call's life before an answer: it is dialed, and its phone rings. */
import { CallCommand, CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import { HOLD_MILLIS, MISSES_TO_BELIEVE, SILENCES_TO_BELIEVE, UNEXPLAINED_MILLIS } from "./CallPatience.ts"
import { checkEnd, close, endUnanswered, isCancel, lookAgain, neverRang, notLooked, ringMillis, to } from "./steps.ts"
import { given } from "./Talk.ts"

const { Dialing, Ended, Held, Ringing, Up, Void } = CallState.cases
const { AttachVoice, Look, SetDeadline } = CallCommand.cases

const answer = ({ giveUpAt }: Unanswered, { at, toldAt }: typeof CallEvent.cases.Answered.Type, limits: CallLimits): Step =>
  to(
    Up.make({ answeredAt: at, dialedAt: giveUpAt - ringMillis(limits), ...given("answerToldAt", toldAt) }),
    SetDeadline.make({ afterMillis: limits.maxDurationSeconds * 1000 }),
    AttachVoice.make({})
  )

export const dialing = (call: typeof Dialing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => accepted(Dialing.make({ ...call, request: "accepted" })),
    Queued: () => (call.queue === "left" ? to(call) : queued(call)),
    Placed: () => to(Dialing.make({ ...call, request: "accepted", queue: "left" })),
    DialingWithdrawn: () => (mayWait(call, limits) ? withdrawn(call) : to(call)),
    Refused: ({ at, reason }) => to(Void.make({ at, reason })),
    Doubted: () => to(Dialing.make({ ...call, request: call.request === "accepted" ? "accepted" : "doubtful" }), lookAgain, Look.make({})),
    Rang: () => to(Ringing.make({ giveUpAt: call.giveUpAt, ...notLooked })),
    Answered: (event) => answer(call, event, limits),
    Judged: () => to(call),
    HungUp: (event) => {
      const mayBeUndialed = call.isWithdrawn === true && mayWait(call, limits) && isCancel(event.cause)
      return endUnanswered(event, { dialedAt: call.giveUpAt - ringMillis(limits), ...(mayBeUndialed ? undialed : {}) })
    },
    EndClaimed: () => claimed(call),
    EndChecked: () => to(call),
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    TransferAsked: () => to(call),
    Transferred: () => to(call),
    EndAsked: ({ cause }) =>
      close(cause, { request: call.request === "accepted" ? "placed" : call.request, ...(mayWait(call, limits) ? undialed : {}) }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "queued":
          // The record lags behind.
          if (call.queue === "left") return found(call, "ringing", at)
          return queued(call, at >= call.giveUpAt ? at + ringMillis(limits) : call.giveUpAt, at)
        case "ringing":
        case "up":
          return found(call, presence, at)
        case "ended":
          return unexplained(call, at, limits)
        case "never_placed":
          // Its record says that it was removed from the queue.
          if (call.request !== "inFlight" && mayWait(call, limits)) return neverRang(at)
          // While the request may still be under way, the call's absence proves nothing.
          return call.request === "doubtful" ? to(Void.make({ at, reason: "unreachable" })) : missed(call, at, call.giveUpAt)
        case "gone":
          return missed(call, at, call.giveUpAt)
        case "silent":
          return unheard(call, at)
      }
    }
  })

const undialed = { isUndialed: true } as const

/** Whether the call may be in the provider's queue, as far as is known. */
const mayWait = ({ queue }: typeof Dialing.Type, { queues }: CallLimits): boolean => queues === true && queue !== "left"

const accepted = (call: typeof Dialing.Type): Step =>
  call.isWithdrawn === true && call.queue === undefined ? to(call, lookAgain, Look.make({})) : to(call)

/** The call waits in the provider's queue, where its phone does not ring, however long that takes. */
const queued = (call: typeof Dialing.Type, giveUpAt = call.giveUpAt, at?: number): Step => {
  if (call.isWithdrawn === true) return takeOut
  const state = Dialing.make({ ...call, request: "accepted", queue: "waiting", giveUpAt, ...notLooked })
  return at === undefined ? to(state) : to(state, SetDeadline.make({ afterMillis: giveUpAt - at }))
}

const takeOut = close("originator_cancel", { request: "placed", ...undialed })

/** Looks up whether the call is queued, unless that is known: a phone that already rings keeps ringing. */
const withdrawn = (call: typeof Dialing.Type): Step => {
  if (call.queue === "waiting") return takeOut
  const state = Dialing.make({ ...call, isWithdrawn: true })
  // There is nothing to be found before the reply to the request.
  return call.request === "inFlight" ? to(state) : to(state, lookAgain, Look.make({}))
}

export const ringing = (call: typeof Ringing.Type, event: CallEvent, limits: CallLimits): Step =>
  CallEvent.match(event, {
    Accepted: () => to(call),
    Queued: () => to(call),
    Placed: () => to(call),
    DialingWithdrawn: () => to(call),
    Refused: () => to(call), // it rings, so it was placed
    Doubted: () => to(call),
    Rang: () => to(call), // late: providers repeat and reorder events
    Answered: (event) => answer(call, event, limits),
    Judged: () => to(call),
    HungUp: (event) => endUnanswered(event, { dialedAt: call.giveUpAt - ringMillis(limits), ...given("answeredAt", call.upAt) }),
    EndClaimed: () => claimed(call),
    EndChecked: () => to(call),
    MediaLost: () => to(call),
    MediaBack: () => to(call),
    TransferAsked: () => to(call),
    Transferred: () => to(call),
    EndAsked: ({ cause }) => close(cause, { request: "placed", ...given("answeredAt", call.upAt) }),
    DeadlinePassed: () => to(call, lookAgain, Look.make({})),
    Looked: ({ at, presence }) => {
      switch (presence) {
        case "queued":
        case "ringing":
        case "up":
          return found(call, presence === "up" ? "up" : "ringing", at)
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

/** If the call has ended, its record may not exist yet, so the count of looks that missed it restarts. */
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

/** The record says that the call has ended, but not how; a report of that may still be on its way. */
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
