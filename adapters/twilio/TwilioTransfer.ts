/**
 * Handing a callee to somebody else: the call's document is replaced by one that dials. Twilio ends the stream for that, and asks for the next document
 * when nobody has answered, or the conversation is over. https://www.twilio.com/docs/voice/twiml/dial
 */
import { formOf } from "#adapters/shared/CarrierRequest.ts"
import { mediaUrlIn, withMedia } from "#adapters/shared/mediaParameter.ts"
import { secondsWithin } from "#adapters/shared/requests.ts"
import { declined, joined } from "#adapters/shared/transfers.ts"
import { dialTo, hangUp, streamTo } from "#adapters/shared/twiml.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TransferRequest } from "#core/provider/Transfer.ts"
import { unansweredDials } from "./twilioCodes.ts"

const RING_SECONDS = { least: 1, most: 600 }

export const transferForm = (request: TransferRequest, address: string, mediaUrl: string | undefined, retries: string): URLSearchParams => {
  const { from = "", timeoutSeconds, to } = request
  const Twiml = dialTo({
    number: to,
    shown: from,
    next: withMedia(address, mediaUrl),
    timeoutSeconds: secondsWithin(timeoutSeconds, RING_SECONDS),
    told: address + retries
  })
  return new URLSearchParams({ Twiml })
}

/** The destination's own leg tells its answer; the call asks what to do when the dial is over. */
export const readTransfer = (callback: Callback, transfer: number): CallbackRead => {
  const { call, isWanted, kind } = callback
  const fields = new Map(formOf(callback))
  const sid = call?.providerCallId
  const status = fields.get("DialCallStatus")
  const deliveryId = [kind, fields.get("CallSid"), status ?? fields.get("CallStatus")].join(" ")
  if (status === undefined) {
    const isAnswered = sid !== undefined && fields.get("ParentCallSid") === sid && fields.get("CallStatus") === "in-progress"
    return { deliveryId, events: isAnswered ? [{ event: joined(transfer) }] : [] }
  }
  const cause = unansweredDials.get(status)
  const isBack = cause !== undefined && isWanted && call !== undefined
  const reply = { mediaType: "application/xml", body: isBack ? streamTo(mediaUrlIn(callback)) : hangUp }
  if (fields.get("CallSid") !== sid) return { deliveryId, events: [], reply }
  return { deliveryId, events: [{ event: cause === undefined ? joined(transfer) : declined(transfer, cause) }], reply }
}
