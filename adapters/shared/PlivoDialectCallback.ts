/**
 * What a callback of Plivo's dialect means. The body is a form, or the query of a GET; some of Vobiz' are JSON. The reply at the answer address
 * is a document that depends on the address and on whether the call is still wanted.
 */
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { type Field, fieldsOf } from "./callbackFields.ts"
import type { Proof } from "./CarrierRequest.ts"
import { countIn, zonedTime } from "./Json.ts"
import { documentFor } from "./PlivoDialectDocument.ts"
import { type DialectEnd, eventsOfEnd } from "./PlivoDialectEnd.ts"
import { idsOf, isUuid } from "./PlivoDialectIds.ts"
import type { Kind } from "./PlivoDialectRequest.ts"
import { readTransfer } from "./PlivoDialectTransfer.ts"
import { transferIn } from "./transfers.ts"

interface Reading {
  /** The currency of costs. */
  readonly currency?: string
  /** The fragment that requests retries of a callback. */
  readonly retries?: string
}

/** Reports the call's own id if it is not known yet, then what has happened. */
export const readDialect = (callback: Callback, proof: Proof, { currency = "", retries = "" }: Reading = {}): CallbackRead => {
  const { coversBody } = proof
  const field = fieldsOf(callback)
  const transfer = transferIn(callback.kind)
  if (transfer !== undefined) return readTransfer(callback, transfer, field, proof, retries)
  const reply = callback.kind === ("answer" satisfies Kind) ? { reply: { mediaType: "application/xml", body: documentFor(callback) } } : {}
  const uuid = field("CallUUID")
  const known = idsOf({ providerCallId: callback.call?.providerCallId })
  const requested = field("RequestUUID") ?? known.request
  const isOther = known.call === undefined ? known.request !== undefined && known.request !== requested : known.call !== uuid
  // It is not about a call, or it is about another leg.
  if (!isUuid(uuid) || isOther) return { events: [], ...reply }
  const named: ReadonlyArray<TrunkEvent> = known.call === undefined ? [{ _tag: "Named", providerCallId: uuid }] : []
  const events = coversBody ? [...named, ...eventsOf(field, callback.isWanted, currency)] : believable(field, callback)
  return { events: events.map((event) => ({ event })), ...reply }
}

const eventsOf = (field: Field, isWanted: boolean, currency: string): ReadonlyArray<TrunkEvent> => {
  switch (field("Event")) {
    case "Ring":
      return [{ _tag: "Rang" }]
    case "StartApp":
      return [{ _tag: "Answered" }]
    case "MachineDetection":
      return detectedBy(field("Machine"))
    case "Hangup":
      return eventsOfEnd(endOf(field, currency), isWanted)
    default:
      return []
  }
}

/**
 * The events that can be believed from a body that anybody may have written. The address says which call it is about; the id in the body could
 * be that of another call, whose record would end this one. Only the request for the answer document reports an answer.
 */
const believable = (field: Field, { isWanted, kind }: Callback): ReadonlyArray<TrunkEvent> => {
  const event = field("Event")
  if (event === "Hangup") return [{ _tag: "EndClaimed" }]
  return event === "StartApp" && kind !== ("answer" satisfies Kind) ? [] : eventsOf(field, isWanted, "")
}

const answerers: ReadonlyMap<string, "human" | "machine"> = new Map([
  ["false", "human"],
  ["true", "machine"]
])

const detectedBy = (machine = ""): ReadonlyArray<TrunkEvent> => {
  const who = answerers.get(machine.toLowerCase())
  return who === undefined ? [] : [{ _tag: "Detected", who }]
}

const endOf = (field: Field, currency: string): DialectEnd => {
  const [answerTime, billed] = [field("AnswerTime"), countIn(field("BillDuration"))]
  const isUntold = answerTime === undefined && billed === undefined
  return {
    code: countIn(field("HangupCauseCode")),
    word: field("HangupCause"),
    name: field("HangupCauseName"),
    status: field("CallStatus"),
    wasAnswered: isUntold ? undefined : (billed ?? 0) > 0 || (answerTime ?? "") !== "",
    seconds: billed,
    endedAt: zonedTime(field("EndTime")),
    cost: { amount: field("TotalCost"), currency }
  }
}
