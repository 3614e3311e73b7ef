/**
 * What Twilio reports about a call, in a callback or in the call's record, in the engine's terms.
 * https://www.twilio.com/docs/voice/api/call-resource#call-status-values
 */
import { answerBefore, billOf, eventsFor, hungUp, timeOf } from "#adapters/shared/callEvents.ts"
import { formOf } from "#adapters/shared/CarrierRequest.ts"
import { at, countIn, textAt, timeIn } from "#adapters/shared/Json.ts"
import { transferIn } from "#adapters/shared/transfers.ts"
import { readTransfer } from "#adapters/shared/twimlTransfer.ts"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Look, Presence } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answerers, causesByError, causesBySip, causesByStatus, events, presences } from "./twilioCodes.ts"
import { isCallSid } from "./TwilioReplies.ts"

export const readCallback = (callback: Callback): CallbackRead => {
  const transfer = transferIn(callback.kind)
  if (transfer !== undefined) return readTransfer(callback, transfer)
  const fields = new Map(formOf(callback))
  const sid = fields.get("CallSid") ?? ""
  const { call } = callback
  // It is not about a call, or it is about another leg.
  if (!isCallSid(sid) || (call?.providerCallId ?? sid) !== sid) return { events: [] }
  const told = eventsOf({
    status: fields.get("CallStatus"),
    answeredBy: fields.get("AnsweredBy"),
    at: timeIn(fields.get("Timestamp")),
    seconds: countIn(fields.get("CallDuration")),
    sipStatus: countIn(fields.get("SipResponseCode")),
    error: countIn(fields.get("ErrorCode"))
  })
  return {
    events: eventsFor(call, sid, told),
    deliveryId: [callback.kind, sid, fields.get("SequenceNumber"), fields.get("CallStatus") ?? fields.get("AnsweredBy")].join(" ")
  }
}

/** The state in the call's record, whose start is null until the call is dialed. Undefined: it is not a record of a call. */
const presenceOf = (record: unknown): Presence | undefined => {
  const status = textAt(record, "status")
  if (status === "queued" && textAt(record, "start_time") !== undefined) return "ringing"
  return status === "canceled" && at(record, "start_time") === null ? "never_placed" : presences.get(status)
}

/**
 * What a call's record says; until the call ends only its state, because callbacks report the rest sooner. Undefined: not the record of a call.
 */
export const lookOf = (record: unknown): Look | undefined => {
  const status = textAt(record, "status")
  const presence = presenceOf(record)
  if (presence === undefined) return undefined
  if (presence !== "ended") return { presence, told: [] }
  const [endedAt, seconds] = [timeIn(textAt(record, "end_time")), countIn(textAt(record, "duration"))]
  // The price is a negative number.
  const price = textAt(record, "price")?.replace(/^-/, "")
  const told = eventsOf({ status, answeredBy: textAt(record, "answered_by"), at: endedAt, seconds })
  return { presence, told: [...told, ...billOf(price, (textAt(record, "price_unit") ?? "").toUpperCase())] }
}

interface Told {
  readonly status: string | undefined
  readonly answeredBy?: string | undefined
  readonly at?: number | undefined
  /** From the answer to the end. */
  readonly seconds?: number | undefined
  readonly sipStatus?: number | undefined
  readonly error?: number | undefined
}

const failure = ({ error = 0, sipStatus = 0 }: Told): HangupCause => {
  const known = causesByError.get(error) ?? causesBySip.get(sipStatus)
  if (known !== undefined) return known
  if (sipStatus >= 500 && sipStatus < 600) return "congestion"
  return sipStatus >= 300 ? fromSip(sipStatus) : "temporary_failure"
}

const causeOf = (told: Told): HangupCause | undefined => (told.status === "failed" ? failure(told) : causesByStatus.get(told.status))

const eventsOf = (told: Told): ReadonlyArray<TrunkEvent> => {
  const { answeredBy = "", at, seconds = 0, status } = told
  const happened: Array<TrunkEvent> = []
  const event = events.get(status)
  if (event !== undefined) happened.push(event._tag === "Answered" ? { ...event, ...timeOf(at) } : event)
  if (status === "completed" && seconds > 0) happened.push(answerBefore(at, seconds))
  const who = answerers.get(answeredBy)
  if (who !== undefined) happened.push({ _tag: "Detected", who })
  if (answeredBy.startsWith("machine_end_")) happened.push({ _tag: "GreetingEnded" })
  const cause = causeOf(told)
  if (cause !== undefined) happened.push(hungUp(cause, at))
  return happened
}
