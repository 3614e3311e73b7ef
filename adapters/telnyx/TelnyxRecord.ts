/** What Telnyx' records say about a call. They know whether it is alive, but only its events tell whether it was answered. */
import type { CallId } from "#core/Id.ts"
import type { Look } from "#core/provider/Adapter.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import { at, textAt, timeIn } from "#adapters/shared/Json.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
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

/**
 * What the list of its events tells of a call: it is ringing unless there is proof of something else. Of a call that has ended, it tells whether it
 * was answered; how it ended, only its webhooks do.
 */
export const lookOf = ({ hasEnded, isAlive, legId }: CallRecord, body: unknown): Look | undefined => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const find = (name: string): unknown =>
    data.find((one) => at(one, "name") === name && at(one, "type") === "webhook" && at(one, "call_leg_id") === legId)
  const answer = find("call.answered")
  if (!hasEnded && (isAlive || find("call.hangup") === undefined)) return { presence: answer === undefined ? "ringing" : "up", told: [] }
  const answeredAt = timeIn(textAt(answer, "event_timestamp"))
  const told: ReadonlyArray<TrunkEvent> = [{ _tag: "Answered", ...(answeredAt === undefined ? {} : { at: answeredAt }) }]
  return { presence: "ended", told: answer === undefined ? [] : told }
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
