/**
 * The part of a call's life in which the callee is transferred. Most providers end the audio for that, so its end proves nothing, and open it
 * again if nobody answers. The destination is dialed once, whatever becomes of the request.
 */
import { MOST_TRANSFERS } from "#core/provider/Transfer.ts"
import { CallCommand, CallEvent, type CallLimits, CallState, type Step } from "./Call.ts"
import {
  HOLD_MILLIS,
  LOOK_AT_TRANSFERRED_MILLIS,
  MEDIA_GRACE_MILLIS,
  SILENCES_TO_BELIEVE,
  TRANSFER_PATIENCE_MILLIS
} from "./CallPatience.ts"
import { asAnswered, awaitLastWord, close, leftMillis, notLooked, type Picked, resumed, to, tooLong } from "./steps.ts"
import { talkOf } from "./Talk.ts"

const { Ended, Muted, Transferred, Transferring } = CallState.cases
const { Look, SetDeadline, Transfer } = CallCommand.cases

/** Transfers the callee, who is with the agent. Undefined: that has been tried too often. */
export const handOver = (
  call: Picked,
  { at, destination }: typeof CallEvent.cases.TransferAsked.Type,
  limits: CallLimits
): Step | undefined => {
  const transfer = (call.transfers ?? 0) + 1
  if (transfer > MOST_TRANSFERS) return undefined
  const until = at + destination.timeoutSeconds * 1000 + TRANSFER_PATIENCE_MILLIS
  const state = Transferring.make({ ...talkOf(call), transfers: transfer, until, isMuted: false })
  return to(state, decideBy(state, until, at, limits), Transfer.make({ transfer, destination }))
}

const decideBy = (call: Picked, then: number, at: number, limits: CallLimits) =>
  SetDeadline.make({ afterMillis: Math.max(0, Math.min(then - at, leftMillis(call, at, limits))) })

/** The destination has answered. Undefined: the event is about an earlier transfer, or reports that nobody answered. */
export const joined = (call: Picked, event: typeof CallEvent.cases.Transferred.Type, limits: CallLimits): Step | undefined =>
  // A process that has died may have begun more transfers than this one knows of.
  event.answered && event.transfer >= (call.transfers ?? 1) ? together(call, event.at, limits, { transfers: event.transfer }) : undefined

const together = (
  call: Picked,
  at: number,
  limits: CallLimits,
  more: { readonly transfers?: number; readonly isAssumed?: true } = {}
): Step => to(Transferred.make({ ...talkOf(call), ...notLooked, ...more }), decideBy(call, at + LOOK_AT_TRANSFERRED_MILLIS, at, limits))

/** The provider opens the audio of a callee who is with the agent again; until then it is lost, like any other. */
const taken = (call: Picked, isMuted: boolean, at: number, limits: CallLimits): Step =>
  isMuted
    ? to(
        Muted.make({ ...talkOf(call), mutedAt: at, graceUntil: at + MEDIA_GRACE_MILLIS, ...notLooked }),
        SetDeadline.make({ afterMillis: MEDIA_GRACE_MILLIS })
      )
    : resumed(call, at, limits)

export const transferring = (call: typeof Transferring.Type, event: CallEvent, limits: CallLimits): Step => {
  const { backAt, isMuted, until } = call
  const { backAt: _, ...away } = call
  return CallEvent.match(event, {
    ...asAnswered(call, limits),
    MediaLost: ({ at }) => to(Transferring.make({ ...away, isMuted: true }), decideBy(call, until, at, limits)),
    MediaBack: ({ at }) => to(Transferring.make({ ...call, isMuted: false, backAt: at }), decideBy(call, at + HOLD_MILLIS, at, limits)),
    TransferAsked: () => to(call),
    Transferred: (event) =>
      joined(call, event, limits) ?? (event.transfer === call.transfers ? taken(call, isMuted, event.at, limits) : to(call)),
    DeadlinePassed: ({ at }) => {
      if (leftMillis(call, at, limits) === 0) return tooLong(call)
      const decidedAt = backAt === undefined ? until : Math.min(until, backAt + HOLD_MILLIS)
      if (at < decidedAt) return to(call, decideBy(call, decidedAt, at, limits))
      // Hanging up on two people who are talking would be worse than an unused line, which ends when the callee hangs up.
      return isMuted ? together(call, at, limits, { isAssumed: true }) : resumed(call, at, limits)
    },
    Looked: ({ presence }) =>
      presence === "ended" ? to(Transferred.make({ ...talkOf(call), isAssumed: true, missed: 1, silences: 0 }), awaitLastWord) : to(call)
  })
}

export const transferred = (call: typeof Transferred.Type, event: CallEvent, limits: CallLimits): Step => {
  const { answeredAt, isAssumed, isRecovered, missed, silences, transfers } = call
  const lookLater = (at: number) => decideBy(call, at + LOOK_AT_TRANSFERRED_MILLIS, at, limits)
  return CallEvent.match(event, {
    ...asAnswered(call, limits),
    MediaLost: () => to(call),
    MediaBack: ({ at }) => resumed(call, at, limits),
    TransferAsked: () => to(call),
    Transferred: ({ answered, at, transfer }) => {
      if (transfer !== transfers || isAssumed !== true) return to(call)
      if (answered) return together(call, at, limits)
      return isRecovered === true ? close("node_lost", { request: "placed", ...talkOf(call) }) : taken(call, true, at, limits)
    },
    DeadlinePassed: ({ at }) => (leftMillis(call, at, limits) === 0 ? tooLong(call) : to(call, lookLater(at), Look.make({}))),
    Looked: ({ at, deaf, presence }) => {
      switch (presence) {
        case "queued":
        case "ringing":
        case "up":
          return to(Transferred.make({ ...call, ...notLooked }))
        case "ended":
        case "gone":
        case "never_placed":
          if (deaf) return to(call)
          return missed > 0
            ? to(Ended.make({ answeredAt, cause: "normal_clearing", endedAt: at, inferred: "gone" }))
            : to(Transferred.make({ ...call, missed: 1 }), awaitLastWord)
        case "silent":
          return silences + 1 >= SILENCES_TO_BELIEVE
            ? to(Ended.make({ answeredAt, cause: "trunk_lost", endedAt: at, inferred: "gone" }))
            : to(Transferred.make({ ...call, silences: silences + 1 }))
      }
    }
  })
}
