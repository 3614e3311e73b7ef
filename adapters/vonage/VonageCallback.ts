/**
 * What Vonage reports about a call, in a webhook or in the call's record, in the engine's terms.
 * https://developer.vonage.com/en/voice/voice-api/webhook-reference
 */
import { answerBefore, billOf, causeOrTimeout, eventsFor, hungUp, timeOf } from "#adapters/shared/callEvents.ts"
import { countIn, parseBytes, textAt, zonedTime } from "#adapters/shared/Json.ts"
import { streamTo } from "#adapters/shared/ncco.ts"
import { digitsOf } from "#adapters/shared/phoneNumbers.ts"
import { outcomeOf, transferIn } from "#adapters/shared/transfers.ts"
import type { Look } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { causesByDetail, causesByStatus, events, presences } from "./vonageCodes.ts"
import { isUuid } from "./VonageReplies.ts"

export const readCallback = (callback: Callback): CallbackRead => {
  const { body, call, isWanted, kind } = callback
  const [told, transfer] = [parseBytes(body), transferIn(kind)]
  // Events of machine detection name the call differently.
  const uuid = textAt(told, "uuid") ?? textAt(told, "call_uuid") ?? ""
  const isSocket = textAt(told, "to")?.startsWith("ws") === true
  if (transfer !== undefined && uuid !== call?.providerCallId && !isSocket) return readTransfer(callback, transfer, told)
  const isOurs = call !== undefined && isUuid(uuid) && isOfCall(told, uuid, call)
  return { events: isOurs ? eventsFor(call, uuid, eventsOf(told, isWanted)) : [] }
}

/** Events of the destination's leg. If it does not answer, the callee comes back. */
const readTransfer = ({ call, isWanted, mediaUrl }: Callback, transfer: number, told: unknown): CallbackRead => {
  const events = outcomeOf(transfer, eventsOf(told, true)).filter(({ event }) => !("cause" in event) || event.cause !== "normal_clearing")
  if (!isWanted || mediaUrl === undefined || !events.some(({ event }) => "cause" in event)) return { events }
  return { events, reply: { mediaType: "application/json", body: JSON.stringify(streamTo(mediaUrl, call?.from)) } }
}

/** The websocket that the call is connected to is a separate leg, whose events arrive at the same address. */
const isOfCall = (told: unknown, uuid: string, call: CallRef): boolean => {
  if (call.providerCallId !== undefined) return uuid === call.providerCallId
  return call.to !== undefined && textAt(told, "direction") === "outbound" && digitsOf(textAt(told, "to") ?? "") === digitsOf(call.to)
}

const eventsOf = (told: unknown, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const event = events.get(textAt(told, "status"))
  if (event === undefined) return endOf(told, isWanted)
  if (event._tag === "Answered") return [{ ...event, ...timeOf(zonedTime(textAt(told, "timestamp"))) }]
  // The beep, or its absence, is reported with a second `machine`.
  const isGreetingOver = event._tag === "Detected" && ["beep_start", "beep_timeout"].includes(textAt(told, "sub_state") ?? "")
  return isGreetingOver ? [event, { _tag: "GreetingEnded" }] : [event]
}

/** The end, the answer that it proves, and the bill. Nothing for a call that has not ended. */
const endOf = (told: unknown, isWanted: boolean): ReadonlyArray<TrunkEvent> => {
  const status = textAt(told, "status")
  const cause = causesByDetail.get(`${status} ${textAt(told, "detail")}`) ?? causesByStatus.get(status)
  if (cause === undefined) return []
  const at = zonedTime(textAt(told, "end_time")) ?? zonedTime(textAt(told, "timestamp"))
  const seconds = countIn(textAt(told, "duration")) ?? 0
  const answer = cause === "normal_clearing" && seconds > 0 ? [answerBefore(at, seconds)] : []
  // Vonage bills in euros.
  return [...answer, hungUp(causeOrTimeout(cause, isWanted), at), ...billOf(textAt(told, "price"), "EUR")]
}

/** What a call's record says. Undefined: not the record of a call. */
export const lookOf = (record: unknown): Look | undefined => {
  const presence = presences.get(textAt(record, "status"))
  // The engine knows better than a record whether we have hung up.
  return presence === undefined ? undefined : { presence, told: endOf(record, false) }
}
