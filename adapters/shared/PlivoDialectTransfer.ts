/**
 * Transfers in Plivo's dialect: the call is redirected to another document, which dials. The carrier ends the stream for that, reports when the
 * destination answers, and requests the next document when nobody answered or the conversation is over.
 * https://www.plivo.com/docs/voice/xml/dial
 */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TransferRequest } from "#core/provider/Transfer.ts"
import type { Proof } from "./CarrierRequest.ts"
import { textAt } from "./Json.ts"
import { parameterIn, withParameter } from "./addressParameter.ts"
import { digitsOf } from "./phoneNumbers.ts"
import { causesByStatus, causesByWord } from "./PlivoDialectCodes.ts"
import { documentFor, hangUp } from "./PlivoDialectDocument.ts"
import { RING_SECONDS } from "./PlivoDialectRequest.ts"
import { isSuccess } from "./replies.ts"
import { secondsWithin, send } from "./requests.ts"
import { declined, joined, type TransferVerb } from "./transfers.ts"
import { documentOf, element, text } from "./xml.ts"

/** Parameters in the document's address: the number to dial, the number to show, and the ring timeout in seconds. */
const [DIALED, SHOWN, SECONDS] = ["dial", "shown", "seconds"]

export const transferOver = (base: string, retries: string): TransferVerb => ({
  order: ({ id }, { from = "", timeoutSeconds, to }: TransferRequest, address) => {
    const shown = withParameter(withParameter(address, DIALED, digitsOf(to)), SHOWN, digitsOf(from))
    const timed = withParameter(shown, SECONDS, String(secondsWithin(timeoutSeconds, RING_SECONDS)))
    return send("POST", `${base}/Call/${id}/`, { legs: "aleg", aleg_url: timed + retries, aleg_method: "POST" })
  },
  isTaken: (reply) => isSuccess(reply) && textAt(reply.body, "message") !== undefined && textAt(reply.body, "error") === undefined
})

/** The address for everything that follows lacks this one's parameters, which come last. */
const dialFor = (callback: Callback, number: string, retries: string): string => {
  const [address = ""] = callback.url.split(new RegExp(`[?&]${DIALED}=`))
  const told = { callbackUrl: address + retries, callbackMethod: "POST" }
  const next = { action: address + retries, method: "POST" }
  const dial = { ...next, ...told, callerId: parameterIn(callback, SHOWN) ?? "", timeout: parameterIn(callback, SECONDS) ?? "" }
  return documentOf(element("Response", {}, element("Dial", dial, element("Number", {}, text(number)))))
}

const answers: ReadonlySet<string | undefined> = new Set(["answer", "connected"])

/**
 * If the body is not signed, only an answer is believed: at worst, a false one keeps a call going. If nobody answered, the
 * audio comes back, which shows it.
 */
export const readTransfer = (
  callback: Callback,
  transfer: number,
  field: (name: string) => string | undefined,
  { coversBody }: Proof,
  retries: string
): CallbackRead => {
  const { call, isWanted } = callback
  const replied = (body: string) => ({ reply: { mediaType: "application/xml", body } })
  const dialed = parameterIn(callback, DIALED)
  if (dialed !== undefined) return { events: [], ...replied(isWanted ? dialFor(callback, dialed, retries) : hangUp) }
  const isOther = (field("DialALegUUID") ?? field("CallUUID")) !== call?.providerCallId
  const [action, status] = [field("DialAction"), field("DialStatus")]
  if (status === undefined) return { events: !isOther && answers.has(action) ? [{ event: joined(transfer) }] : [] }
  const isAnswered = status === "completed"
  const event = isAnswered ? joined(transfer) : declined(transfer, causeOf(status, field("DialHangupCause")))
  const isTold = !isOther && (isAnswered || coversBody)
  return { events: isTold ? [{ event }] : [], ...replied(isAnswered ? hangUp : documentFor(callback)) }
}

const causeOf = (status: string, word = ""): HangupCause =>
  (status === "failed" ? causesByWord.get(word) : causesByStatus.get(status)) ?? "temporary_failure"
