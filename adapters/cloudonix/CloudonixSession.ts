/**
 * What a session object says about its call, in the reply to a look or in a callback.
 * https://developers.cloudonix.com/Documentation/dataModels/session
 */
import { hungUp, timeOf } from "#adapters/shared/callEvents.ts"
import { numberAt, textAt, timeIn } from "#adapters/shared/Json.ts"
import { digitsOf } from "#adapters/shared/phoneNumbers.ts"
import { isOfItsTime } from "#adapters/shared/theOneOf.ts"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Look } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { standings } from "./cloudonixCodes.ts"

/** A session that began this long before a call was requested belongs to another call, even if the clocks are far apart. */
const LONG_BEFORE_MILLIS = 300_000
const SAME_DIGITS = 7

/** Callbacks come as a session or as an array of one. */
export const sessionIn = (body: unknown): unknown => (Array.isArray(body) && body.length === 1 ? body[0] : body)

/** In epoch milliseconds. Zero means no time. */
const timeAt = (session: unknown, name: string): number | undefined => {
  const time = numberAt(session, name)
  return time === undefined || time <= 0 ? undefined : time
}

/** The events of a call that is still live; none if it has ended. */
const liveEvents = (session: unknown): ReadonlyArray<TrunkEvent> => {
  switch (standings.get(textAt(session, "status"))) {
    case "placed":
      return [{ _tag: "Placed" }]
    case "ringing":
      return [{ _tag: "Rang" }]
    case "up":
      return [{ _tag: "Answered", ...timeOf(timeAt(session, "callAnswerTime")) }]
    default:
      return []
  }
}

/** What a session says about its call. Undefined: it is not this session. */
export const lookOf = (session: unknown, token: string): Look | undefined => {
  const status = textAt(session, "status")
  if (textAt(session, "token") !== token || status === undefined) return undefined
  const standing = standings.get(status)
  if (typeof standing === "object") return { presence: "ended", told: endOf(session, causeIn(session, standing)) }
  // If the status is unknown, the times decide.
  if (standing === undefined && timeAt(session, "callEndTime") !== undefined) return { presence: "ended", told: endOf(session, "unknown") }
  const isUp = standing === "up" || (standing === undefined && timeAt(session, "callAnswerTime") !== undefined)
  return { presence: isUp ? "up" : "ringing", told: liveEvents(session) }
}

const causeIn = (session: unknown, { cause, hasSip }: { readonly cause: HangupCause; readonly hasSip?: true }): HangupCause => {
  const [, sip] = /\b([3-6]\d\d)\b/.exec((hasSip && textAt(session, "error")) || "") ?? []
  return sip === undefined ? cause : fromSip(Number(sip))
}

const endOf = (session: unknown, cause: HangupCause): ReadonlyArray<TrunkEvent> => {
  const [answeredAt, endedAt] = [timeAt(session, "callAnswerTime"), timeAt(session, "callEndTime")]
  const isAnswered = answeredAt !== undefined || (cause === "normal_clearing" && numberAt(session, "callAnswerTime") === undefined)
  const end = hungUp(cause, endedAt, textAt(session, "status"))
  return isAnswered ? [{ _tag: "Answered", ...timeOf(answeredAt) }, end] : [end]
}

/** Whether the session says that it is between other numbers than the call. */
export const isBetweenOthers = (session: unknown, { from, to }: CallRef): boolean => {
  const isOther = (told: string | undefined, known: string | undefined) =>
    told !== undefined && known !== undefined && digitsOf(told) !== digitsOf(known)
  return isOther(textAt(session, "destination"), to) || isOther(textAt(session, "callerId"), from)
}

/** A token from a callback may belong to another call. Numbers may have been translated, which preserves their last digits. */
export const isOfAnother = (session: unknown, { sentAt, to }: CallRef): boolean => {
  const [callee, startedAt] = [textAt(session, "destination"), timeAt(session, "callStartTime")]
  const isOtherNumber = callee !== undefined && to !== undefined && callee.slice(-SAME_DIGITS) !== to.slice(-SAME_DIGITS)
  return isOtherNumber || (startedAt !== undefined && startedAt < sentAt - LONG_BEFORE_MILLIS)
}

/** Whether a live session can be the call's, judged by numbers and time, because Cloudonix accepts no id of ours. */
export const isOf = (call: CallRef, session: unknown): boolean =>
  textAt(session, "direction") === "outbound-api" &&
  textAt(session, "destination") !== undefined &&
  !isBetweenOthers(session, call) &&
  isOfItsTime(call, timeIn(textAt(session, "createdAt")) ?? timeAt(session, "callStartTime"))
