/** What Telnyx' records say about a call. They know whether it is alive, but only its events tell whether it was answered. */
import type { CallId } from "#core/Id.ts"
import type { Presence } from "#core/provider/Adapter.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { clientStateOf } from "./TelnyxDial.ts"

interface CallRecord {
  readonly isAlive: boolean
  /** Not alive, and with the time of its end: right after the dial a call may be not alive yet. */
  readonly hasEnded: boolean
  readonly legId: string
}

/** The record of this call; undefined for anything else. */
export const recordOf = (body: unknown, providerCallId: string): CallRecord | undefined => {
  const isAlive = at(body, "data", "is_alive")
  const legId = textAt(body, "data", "call_leg_id")
  if (typeof isAlive !== "boolean" || legId === undefined || at(body, "data", "call_control_id") !== providerCallId) return undefined
  return { isAlive, hasEnded: !isAlive && (textAt(body, "data", "end_time") ?? "") !== "", legId }
}

/** The presence of a call that has no end, by the list of its events. It is ringing unless there is proof of something else. */
export const presenceOf = ({ isAlive, legId }: CallRecord, body: unknown): Presence | undefined => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const was = (name: string) =>
    data.some((one) => at(one, "name") === name && at(one, "type") === "webhook" && at(one, "call_leg_id") === legId)
  if (!isAlive && was("call.hangup")) return "ended"
  return was("call.answered") ? "up" : "ringing"
}

/** A page of the application's live calls: the id of ours if it is there, and where the next page begins. Undefined if it is no such page. */
export const activeCallsOf = (body: unknown, callId: CallId) => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const ours: unknown = data.find((one) => at(one, "client_state") === clientStateOf(callId))
  const id = at(ours, "call_control_id")
  const hasNext = (textAt(body, "meta", "next") ?? "") !== ""
  return { found: isProviderCallId(id) ? id : undefined, after: hasNext ? textAt(body, "meta", "cursors", "after") : undefined }
}
