/**
 * What Twilio tells of a call, in a callback or in the call's record, in the engine's words.
 * https://www.twilio.com/docs/voice/api/call-resource#call-status-values
 */
import { formOf } from "#adapters/shared/CarrierRequest.ts"
import { at, countIn, textAt, timeIn } from "#adapters/shared/Json.ts"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Presence } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { isCallSid } from "./TwilioReplies.ts"
import { proofOf } from "./signature.ts"
import { answerers, causesByError, causesBySip, causesByStatus, presences } from "./twilioCodes.ts"

interface Told {
  readonly status: string | undefined
  readonly answeredBy?: string | undefined
  readonly at?: number | undefined
  /** From the answer to the end. */
  readonly seconds?: number | undefined
  readonly sipStatus?: number | undefined
  readonly error?: number | undefined
}

/** The state in the call's record, whose start is null until the call is dialed. Undefined: it is not a record of a call. */
export const presenceOf = (record: unknown): Presence | undefined => {
  const status = textAt(record, "status")
  if (status === "queued" && textAt(record, "start_time") !== undefined) return "ringing"
  return status === "canceled" && at(record, "start_time") === null ? "never_placed" : presences.get(status)
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
  const time = at === undefined ? {} : { at }
  const events: Array<TrunkEvent> = []
  if (status === "queued") events.push({ _tag: "Queued" })
  if (status === "initiated") events.push({ _tag: "Placed" })
  if (status === "ringing") events.push({ _tag: "Rang" })
  if (status === "in-progress") events.push({ _tag: "Answered", ...time })
  // Only an answered call has lasted: if the answer was not told, or is told later, it is told by the end.
  if (status === "completed" && seconds > 0) events.push({ _tag: "Answered", ...(at === undefined ? {} : { at: at - seconds * 1000 }) })
  const who = answerers.get(answeredBy)
  if (who !== undefined) events.push({ _tag: "Detected", who })
  if (answeredBy.startsWith("machine_end_")) events.push({ _tag: "GreetingEnded" })
  const cause = causeOf(told)
  if (cause !== undefined) events.push({ _tag: "HungUp", cause, ...time })
  return events
}

/** What the record of a call that has ended tells. Nothing while it lives: the callbacks tell that in time, or too late to be of use. */
export const endOf = (record: unknown): ReadonlyArray<TrunkEvent> => {
  if (presenceOf(record) !== "ended") return []
  const [at, seconds] = [timeIn(textAt(record, "end_time")), countIn(textAt(record, "duration"))]
  const price = priceIn(record)
  return [
    ...eventsOf({ status: textAt(record, "status"), answeredBy: textAt(record, "answered_by"), at, seconds }),
    ...(price === undefined ? [] : [price])
  ]
}

/** Twilio writes what a call cost as a negative number. */
const priceIn = (record: unknown): TrunkEvent | undefined => {
  const [, amount] = /^-?(\d+(?:\.\d+)?)$/.exec(textAt(record, "price") ?? "") ?? []
  return amount === undefined ? undefined : { _tag: "Billed", amount, currency: (textAt(record, "price_unit") ?? "").toUpperCase() }
}

export const readCallback = (authToken: string, callback: Callback): CallbackRead | undefined => {
  if (proofOf(callback, authToken) === undefined) return undefined
  const fields = new Map(formOf(callback))
  const sid = fields.get("CallSid")
  const known = callback.call?.providerCallId
  // Not a callback about a call, or about another leg.
  if (!isCallSid(sid) || (known !== undefined && known !== sid)) return { events: [] }
  const events = eventsOf({
    status: fields.get("CallStatus"),
    answeredBy: fields.get("AnsweredBy"),
    at: timeIn(fields.get("Timestamp")),
    seconds: countIn(fields.get("CallDuration")),
    sipStatus: countIn(fields.get("SipResponseCode")),
    error: countIn(fields.get("ErrorCode"))
  })
  const named: ReadonlyArray<TrunkEvent> = known === undefined ? [{ _tag: "Named", providerCallId: sid }] : []
  return {
    events: [...named, ...events].map((event) => ({ event })),
    deliveryId: [callback.kind, sid, fields.get("SequenceNumber"), fields.get("CallStatus") ?? fields.get("AnsweredBy")].join(" ")
  }
}
