/**
 * What Telnyx' webhooks mean. They come repeated and in any order, and the signature does not cover the address that they come to. Keys are not
 * taken from them: the media socket tells the same keys in the order in which they were pressed.
 */
import type { KeyObject } from "node:crypto"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { at, parse, textAt, timeIn } from "#adapters/shared/Json.ts"
import { answerers, ends } from "./codes.ts"
import { proofOf } from "./signature.ts"
import { callIdIn } from "./TelnyxDial.ts"

/** Undefined: not signed by this account. */
export const readCallback = (callback: Callback, publicKey: KeyObject | undefined): CallbackRead | undefined => {
  if (proofOf(callback, publicKey) === undefined) return undefined
  const data = at(parse(Buffer.from(callback.body).toString()), "data")
  const id = at(data, "id")
  return { events: eventsIn(data, callback), ...(isProviderCallId(id) ? { deliveryId: id } : {}) }
}

const eventsIn = (data: unknown, { call, isWanted }: Callback): CallbackRead["events"] => {
  const payload = at(data, "payload")
  const providerCallId = at(payload, "call_control_id")
  const callId = callIdIn(textAt(payload, "client_state"))
  if (callId === undefined || !isProviderCallId(providerCallId)) return []
  // Signed, but sent for another call, or for a second leg of this one.
  if (call !== undefined && (call.callId !== callId || (call.providerCallId ?? providerCallId) !== providerCallId)) return []
  const told = meaningOf(data, isWanted || call === undefined)
  const named: ReadonlyArray<TrunkEvent> = call?.providerCallId === undefined ? [{ _tag: "Named", providerCallId }] : []
  return [...named, ...told].map((event) => (call === undefined ? { call: { callId }, event } : { event }))
}

const meaningOf = (data: unknown, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const payload = at(data, "payload")
  const occurredAt = timeIn(textAt(data, "occurred_at"))
  const time = occurredAt === undefined ? {} : { at: occurredAt }
  // Some deliveries write underscores instead of dots.
  switch (textAt(data, "event_type")?.replaceAll("_", ".")) {
    case "call.initiated":
      return [{ _tag: "Placed" }]
    case "call.answered":
      return [{ _tag: "Answered", ...time }]
    case "call.hangup":
      return [{ _tag: "HungUp", cause: causeOf(payload, isWanted), ...time }]
    case "call.cost": {
      const [amount, currency] = [textAt(payload, "total_cost"), textAt(at(payload, "cost_parts"), "0", "currency")]
      return amount === undefined || currency === undefined ? [] : [{ _tag: "Billed", amount, currency }]
    }
    case "call.machine.greeting.ended":
    case "call.machine.premium.greeting.ended":
      return [{ _tag: "GreetingEnded" }]
    case "call.machine.detection.ended":
    case "call.machine.premium.detection.ended":
      return [{ _tag: "Detected", who: answerers.get(textAt(payload, "result")) ?? "unknown" }]
    default:
      return []
  }
}

/** `isWanted`: we have not hung up. */
const causeOf = (payload: unknown, isWanted: boolean): HangupCause => {
  const { cause, refinedBy = [] } = ends.get(textAt(payload, "hangup_cause") ?? "") ?? { cause: "unknown", refinedBy: "all" }
  const sip = /^[3-6]\d\d$/.exec(textAt(payload, "sip_hangup_cause") ?? "")
  const isRefined = sip !== null && (refinedBy === "all" || refinedBy.includes(Number(sip[0])))
  const refined = isRefined ? fromSip(Number(sip[0])) : cause
  return refined === "originator_cancel" && isWanted ? "ring_timeout" : refined
}
