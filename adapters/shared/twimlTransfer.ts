/**
 * Transfers in TwiML and in CXML: the call's document is replaced by one that dials. The carrier ends the stream for that, and requests the next
 * document when nobody has answered or the conversation is over. https://www.twilio.com/docs/voice/twiml/dial
 */
import { fieldsOf } from "./callbackFields.ts"
import { formOf } from "./CarrierRequest.ts"
import { secondsWithin } from "./requests.ts"
import { declined, joined } from "./transfers.ts"
import { dialTo, hangUp, streamTo } from "./twiml.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TransferRequest } from "#core/provider/Transfer.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"

const RING_SECONDS = { least: 1, most: 600 }

/** `told`: where the carrier reports that the destination has answered, if it can. */
export const transferDocument = (request: TransferRequest, address: string, told?: string): string => {
  const { from = "", timeoutSeconds, to } = request
  return dialTo({ number: to, shown: from, next: address, timeoutSeconds: secondsWithin(timeoutSeconds, RING_SECONDS), told })
}

/** The statuses of a dial in which somebody has talked to the callee. */
const answeredDials = new Set(["answered", "completed"])
/** Why nobody has, by the status of the dial. */
const unansweredDials: ReadonlyMap<string, HangupCause> = new Map<string, HangupCause>([
  ["busy", "user_busy"],
  ["no-answer", "no_answer"],
  ["canceled", "originator_cancel"],
  ["failed", "temporary_failure"]
])

/** The destination's own leg reports its answer; the call requests its next document when the dial is over. */
export const readTransfer = (callback: Callback, transfer: number): CallbackRead => {
  const fields = new Map(formOf(callback))
  const sid = callback.call?.providerCallId
  const status = fields.get("DialCallStatus")
  const deliveryId = [callback.kind, fields.get("CallSid"), status ?? fields.get("CallStatus")].join(" ")
  if (status !== undefined)
    return { deliveryId, ...dialOver(callback, transfer, status, fields.get("CallSid") === sid ? "all" : "nothing") }
  const isAnswered = sid !== undefined && fields.get("ParentCallSid") === sid && fields.get("CallStatus") === "in-progress"
  return { deliveryId, events: isAnswered ? [{ event: joined(transfer) }] : [] }
}

/**
 * The outcome of a dial that is over, and the next document. `believed`: the part of the report that is believed. Without proof, only an answer
 * is: at worst, a false one keeps a call going.
 */
const dialOver = (
  callback: Callback,
  transfer: number,
  status: string,
  believed: "all" | "answers" | "nothing"
): Pick<CallbackRead, "events"> & Required<Pick<CallbackRead, "reply">> => {
  const { call, isWanted, mediaUrl } = callback
  const isAnswered = answeredDials.has(status)
  const isBack = !isAnswered && isWanted && call !== undefined
  const event = isAnswered ? joined(transfer) : declined(transfer, unansweredDials.get(status) ?? "temporary_failure")
  const isTold = believed === "all" || (believed === "answers" && isAnswered)
  return { events: isTold ? [{ event }] : [], reply: { mediaType: "application/xml", body: isBack ? streamTo(mediaUrl) : hangUp } }
}

/**
 * In CXML, an unsigned request reports the status of a finished dial as the status of the call. The destination's answer is not reported before
 * that. Undefined: about another call. https://developers.cloudonix.com/Documentation/voiceApplication/Request
 */
export const readCxmlTransfer = (callback: Callback, transfer: number): CallbackRead | undefined => {
  const [field, known] = [fieldsOf(callback), callback.call?.providerCallId]
  if (known !== undefined && field("Session") !== known) return undefined
  return dialOver(callback, transfer, field("DialCallStatus") ?? field("CallStatus") ?? "", "answers")
}
