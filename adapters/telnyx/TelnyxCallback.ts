/**
 * What Telnyx reports about a call. Its records say whether it is alive, but only its events say whether it was answered. Webhooks are repeated
 * and arrive in any order, and the signature does not cover their address. Keys are not taken from them: the media socket reports the same keys
 * in the order in which they were pressed.
 */
import { Schema } from "effect"
import { billOf, causeOrTimeout, eventsFor, hungUp, timeOf } from "#adapters/shared/callEvents.ts"
import { at, parseBytes, textAt, timeIn } from "#adapters/shared/Json.ts"
import type { Page } from "#adapters/shared/pages.ts"
import { outcomeOf, transferIn } from "#adapters/shared/transfers.ts"
import { CallId } from "#core/Id.ts"
import { fromSip, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { Look } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { answerers, ends, events } from "./telnyxCodes.ts"

/** Our id of the call, which Telnyx returns with each event and record. */
export const clientStateOf = (callId: CallId): string => Buffer.from(callId).toString("base64")

const isCallId = Schema.is(CallId)

const callIdIn = (clientState: string | undefined): CallId | undefined => {
  const text = Buffer.from(clientState ?? "", "base64").toString()
  return isCallId(text) && clientStateOf(text) === clientState ? text : undefined
}

export const readCallback = (callback: Callback): CallbackRead => {
  const data = at(parseBytes(callback.body), "data")
  const id = at(data, "id")
  return { events: eventsIn(data, callback), ...(isProviderCallId(id) ? { deliveryId: id } : {}) }
}

const eventsIn = (data: unknown, { call, isWanted, kind }: Callback): CallbackRead["events"] => {
  const payload = at(data, "payload")
  const providerCallId = at(payload, "call_control_id")
  const callId = callIdIn(textAt(payload, "client_state"))
  if (callId === undefined || !isProviderCallId(providerCallId)) return []
  const transfer = call?.callId === callId && call.providerCallId !== providerCallId ? transferIn(kind) : undefined
  if (transfer !== undefined) return outcomeOf(transfer, meaningOf(data, true))
  // Signed, but sent for another call, or for a second leg of this one.
  if (call !== undefined && (call.callId !== callId || (call.providerCallId ?? providerCallId) !== providerCallId)) return []
  const told = eventsFor(call, providerCallId, meaningOf(data, isWanted || call === undefined))
  return call === undefined ? told.map(({ event }) => ({ call: { callId }, event })) : told
}

const meaningOf = (data: unknown, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const payload = at(data, "payload")
  const occurredAt = timeIn(textAt(data, "occurred_at"))
  // Some deliveries use underscores instead of dots. Premium detection reports the same under its own names.
  const type = textAt(data, "event_type")?.replaceAll("_", ".").replace(".premium.", ".")
  switch (type) {
    case "call.answered":
      return [{ _tag: "Answered", ...timeOf(occurredAt) }]
    case "call.hangup":
      return [hungUp(causeOrTimeout(causeOf(payload), isWanted), occurredAt)]
    case "call.cost":
      return billOf(textAt(payload, "total_cost"), textAt(payload, "cost_parts", "0", "currency"))
    case "call.machine.detection.ended":
      return [{ _tag: "Detected", who: answerers.get(textAt(payload, "result")) ?? "unknown" }]
    default:
      return events.get(type) ?? []
  }
}

const causeOf = (payload: unknown): HangupCause => {
  const { cause, refinedBy = [] } = ends.get(textAt(payload, "hangup_cause") ?? "") ?? { cause: "unknown", refinedBy: "all" }
  const sip = /^[3-6]\d\d$/.exec(textAt(payload, "sip_hangup_cause") ?? "")
  const isRefined = sip !== null && (refinedBy === "all" || refinedBy.includes(Number(sip[0])))
  return isRefined ? fromSip(Number(sip[0])) : cause
}

/** The record of this call; undefined for anything else. Only an end time proves an end: right after the dial, a call may not be alive yet. */
export const recordOf = (body: unknown, providerCallId: string) => {
  const isAlive = at(body, "data", "is_alive")
  const legId = textAt(body, "data", "call_leg_id")
  if (typeof isAlive !== "boolean" || legId === undefined || at(body, "data", "call_control_id") !== providerCallId) return undefined
  return { isAlive, hasEnded: !isAlive && (textAt(body, "data", "end_time") ?? "") !== "", legId }
}

/**
 * What the list of its events says about a call: it is ringing unless there is proof of something else. For an ended call, it says whether it
 * was answered; only the webhooks say how it ended.
 */
export const lookOf = ({ hasEnded, isAlive, legId }: NonNullable<ReturnType<typeof recordOf>>, body: unknown): Look | undefined => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const find = (name: string): unknown =>
    data.find((one) => at(one, "name") === name && at(one, "type") === "webhook" && at(one, "call_leg_id") === legId)
  const answer = find("call.answered")
  if (!hasEnded && (isAlive || find("call.hangup") === undefined)) return { presence: answer === undefined ? "ringing" : "up", told: [] }
  const answered = { _tag: "Answered", ...timeOf(timeIn(textAt(answer, "event_timestamp"))) } as const
  return { presence: "ended", told: answer === undefined ? [] : [answered] }
}

export const isOf = (callId: CallId, record: unknown): boolean => at(record, "client_state") === clientStateOf(callId)

/** A page of the application's live calls, which is the last one to read if ours is on it. Undefined: not such a page. */
export const activeCallsIn = (body: unknown, callId: CallId): Page | undefined => {
  const entries = at(body, "data")
  if (!Array.isArray(entries)) return undefined
  const cursor = textAt(body, "meta", "next") ? textAt(body, "meta", "cursors", "after") : undefined
  return { cursor, entries, isLast: cursor === undefined || entries.some((record) => isOf(callId, record)) }
}
