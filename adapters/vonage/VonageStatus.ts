/**
 * What Vonage tells of a call, in a webhook or in the call's record, in the engine's words.
 * https://developer.vonage.com/en/voice/voice-api/webhook-reference
 */
import { countIn, parse, textAt, timeIn } from "#adapters/shared/Json.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Presence } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { proofOf } from "./signature.ts"
import { isUuid } from "./VonageReplies.ts"
import { digitsOf } from "./VonageRequest.ts"
import { causesByDetail, causesByStatus, presences } from "./vonageCodes.ts"

/** The state in the call's record. Undefined: it is not a record of a call. */
export const presenceOf = (record: unknown): Presence | undefined => presences.get(textAt(record, "status"))

/** A time whose zone is not written is none: it would be read in ours. */
const instantIn = (text = ""): number | undefined => (/(Z|[+-]\d\d:?\d\d)$/.test(text) ? timeIn(text) : undefined)

const timeOf = (at: number | undefined): { readonly at?: number } => (at === undefined ? {} : { at })

const causeOf = (told: unknown): HangupCause | undefined => {
  const status = textAt(told, "status")
  return causesByDetail.get(`${status} ${textAt(told, "detail")}`) ?? causesByStatus.get(status)
}

/** What an ended call has cost so far. Vonage bills in euros. */
const billOf = (told: unknown): ReadonlyArray<TrunkEvent> => {
  const amount = textAt(told, "price") ?? ""
  return /^\d{1,12}(\.\d{1,12})?$/.test(amount) ? [{ _tag: "Billed", amount, currency: "EUR" }] : []
}

/** The end, the answer that it proves, and the bill. Nothing of a call that has not ended. */
export const endOf = (told: unknown): ReadonlyArray<TrunkEvent> => {
  const cause = causeOf(told)
  if (cause === undefined) return []
  const at = instantIn(textAt(told, "end_time")) ?? instantIn(textAt(told, "timestamp"))
  // Only an answered call has lasted: if the answer was not told, or is told later, it is told by the end.
  const seconds = countIn(textAt(told, "duration")) ?? 0
  if (cause !== "normal_clearing" || seconds === 0) return [{ _tag: "HungUp", cause, ...timeOf(at) }, ...billOf(told)]
  const answeredAt = at === undefined ? undefined : at - seconds * 1000
  return [{ _tag: "Answered", ...timeOf(answeredAt) }, { _tag: "HungUp", cause, ...timeOf(at) }, ...billOf(told)]
}

/** The beep, or that none came in time, is told with a second `machine`. */
const greetingEnd = (told: unknown): ReadonlyArray<TrunkEvent> =>
  ["beep_start", "beep_timeout"].includes(textAt(told, "sub_state") ?? "") ? [{ _tag: "GreetingEnded" }] : []

const eventsOf = (told: unknown): ReadonlyArray<TrunkEvent> => {
  switch (textAt(told, "status")) {
    case "started":
      return [{ _tag: "Placed" }]
    case "ringing":
      return [{ _tag: "Rang" }]
    case "answered":
      return [{ _tag: "Answered", ...timeOf(instantIn(textAt(told, "timestamp"))) }]
    case "human":
      return [{ _tag: "Detected", who: "human" }]
    case "machine":
      return [{ _tag: "Detected", who: "machine" }, ...greetingEnd(told)]
    default:
      return endOf(told)
  }
}

/** The websocket that the call is connected to is a leg of its own, whose events come to the same address. */
const isOfCall = (told: unknown, uuid: string, call: CallRef): boolean => {
  if (call.providerCallId !== undefined) return uuid === call.providerCallId
  return call.to !== undefined && textAt(told, "direction") === "outbound" && digitsOf(textAt(told, "to") ?? "") === digitsOf(call.to)
}

interface WebhookKeys {
  readonly apiKey: string
  readonly signatureSecret: string
}

/** Undefined: not signed by this account. */
export const readCallback = (keys: WebhookKeys, callback: Callback): CallbackRead | undefined => {
  const proof = proofOf(callback, keys)
  if (proof === undefined) return undefined
  const nonce = proof.nonce === undefined ? {} : { nonce: proof.nonce }
  const { call, isWanted } = callback
  const told = parse(Buffer.from(callback.body).toString())
  // What a machine detection tells names the call differently.
  const uuid = textAt(told, "uuid") ?? textAt(told, "call_uuid")
  if (call === undefined || !isUuid(uuid) || !isOfCall(told, uuid, call)) return { events: [], ...nonce }
  const named: ReadonlyArray<TrunkEvent> = call.providerCallId === undefined ? [{ _tag: "Named", providerCallId: uuid }] : []
  const events = eventsOf(told).map((event) => (isWanted ? asTimeout(event) : event))
  return { events: [...named, ...events].map((event) => ({ event })), ...nonce }
}

/** An end before the answer that we did not ask for. */
const asTimeout = (event: TrunkEvent): TrunkEvent =>
  event._tag === "HungUp" && event.cause === "originator_cancel" ? { ...event, cause: "ring_timeout" } : event
