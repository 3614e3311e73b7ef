/**
 * What Telnyx' webhooks mean. They come repeated and in any order, and the signature does not cover the address that they come to. Keys are not
 * taken from them: the media socket tells the same keys in the order in which they were pressed.
 */
import type { KeyObject } from "node:crypto"
import { Schema } from "effect"
import { billOf, causeOrTimeout, eventsFor, hungUp, timeOf } from "#adapters/shared/callEvents.ts"
import { at, parseBytes, textAt, timeIn } from "#adapters/shared/Json.ts"
import { CallId } from "#core/Id.ts"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { proofOf } from "./signature.ts"
import { answerers, ends } from "./telnyxCodes.ts"

/** Our id of the call, which Telnyx returns with each event and record. */
export const clientStateOf = (callId: CallId): string => Buffer.from(callId).toString("base64")

const isCallId = Schema.is(CallId)

const callIdIn = (clientState: string | undefined): CallId | undefined => {
  const text = Buffer.from(clientState ?? "", "base64").toString()
  return isCallId(text) && clientStateOf(text) === clientState ? text : undefined
}

/** Undefined: not signed by this account. */
export const readCallback = (callback: Callback, publicKey: KeyObject | undefined): CallbackRead | undefined => {
  if (proofOf(callback, publicKey) === undefined) return undefined
  const data = at(parseBytes(callback.body), "data")
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
  const told = eventsFor(call, providerCallId, meaningOf(data, isWanted || call === undefined))
  return call === undefined ? told.map(({ event }) => ({ call: { callId }, event })) : told
}

const meaningOf = (data: unknown, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const payload = at(data, "payload")
  const occurredAt = timeIn(textAt(data, "occurred_at"))
  // Some deliveries write underscores instead of dots. Premium detection tells the same under names of its own.
  switch (textAt(data, "event_type")?.replaceAll("_", ".").replace(".premium.", ".")) {
    case "call.initiated":
      return [{ _tag: "Placed" }]
    case "call.answered":
      return [{ _tag: "Answered", ...timeOf(occurredAt) }]
    case "call.hangup":
      return [hungUp(causeOrTimeout(causeOf(payload), isWanted), occurredAt)]
    case "call.cost":
      return billOf(textAt(payload, "total_cost"), textAt(payload, "cost_parts", "0", "currency"))
    case "call.machine.greeting.ended":
      return [{ _tag: "GreetingEnded" }]
    case "call.machine.detection.ended":
      return [{ _tag: "Detected", who: answerers.get(textAt(payload, "result")) ?? "unknown" }]
    default:
      return []
  }
}

const causeOf = (payload: unknown): HangupCause => {
  const { cause, refinedBy = [] } = ends.get(textAt(payload, "hangup_cause") ?? "") ?? { cause: "unknown", refinedBy: "all" }
  const sip = /^[3-6]\d\d$/.exec(textAt(payload, "sip_hangup_cause") ?? "")
  const isRefined = sip !== null && (refinedBy === "all" || refinedBy.includes(Number(sip[0])))
  return isRefined ? fromSip(Number(sip[0])) : cause
}
