/**
 * Transfers in TwiML: the call's document is replaced by one that dials. The carrier ends the stream for that, and asks for the next document when nobody
 * has answered, or the conversation is over. https://www.twilio.com/docs/voice/twiml/dial
 */
import { formOf } from "./CarrierRequest.ts"
import { secondsWithin } from "./requests.ts"
import { declined, joined } from "./transfers.ts"
import { dialTo, hangUp, streamTo } from "./twiml.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TransferRequest } from "#core/provider/Transfer.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"

const RING_SECONDS = { least: 1, most: 600 }

export const transferDocument = (request: TransferRequest, address: string, retries: string): string => {
  const { from = "", timeoutSeconds, to } = request
  return dialTo({
    number: to,
    shown: from,
    next: address,
    timeoutSeconds: secondsWithin(timeoutSeconds, RING_SECONDS),
    told: address + retries
  })
}

/** Somebody has talked to the callee. */
const answeredDials = new Set(["answered", "completed"])
/** Otherwise, why nobody has, by the status of the dial. */
const unansweredDials: ReadonlyMap<string, HangupCause> = new Map<string, HangupCause>([
  ["busy", "user_busy"],
  ["no-answer", "no_answer"],
  ["canceled", "originator_cancel"],
  ["failed", "temporary_failure"]
])

/** The destination's own leg tells its answer; the call asks what to do when the dial is over. */
export const readTransfer = (callback: Callback, transfer: number): CallbackRead => {
  const { call, isWanted, kind, mediaUrl } = callback
  const fields = new Map(formOf(callback))
  const sid = call?.providerCallId
  const status = fields.get("DialCallStatus")
  const deliveryId = [kind, fields.get("CallSid"), status ?? fields.get("CallStatus")].join(" ")
  if (status === undefined) {
    const isAnswered = sid !== undefined && fields.get("ParentCallSid") === sid && fields.get("CallStatus") === "in-progress"
    return { deliveryId, events: isAnswered ? [{ event: joined(transfer) }] : [] }
  }
  const isAnswered = answeredDials.has(status)
  const isBack = !isAnswered && isWanted && call !== undefined
  const reply = { mediaType: "application/xml", body: isBack ? streamTo(mediaUrl) : hangUp }
  if (fields.get("CallSid") !== sid) return { deliveryId, events: [], reply }
  const event = isAnswered ? joined(transfer) : declined(transfer, unansweredDials.get(status) ?? "temporary_failure")
  return { deliveryId, events: [{ event }], reply }
}
