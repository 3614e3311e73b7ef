/** What Telnyx' records say about a call. They know whether it is alive, but only its events tell whether it was answered. */
import type { Presence } from "#core/provider/Adapter.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import type { CallId } from "#core/Id.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { clientStateOf } from "./TelnyxDial.ts"

interface CallRecord {
  readonly isAlive: boolean
  /** Not alive, and with the time of its end: right after the dial a call may be not alive yet. */
  readonly hasEnded: boolean
  readonly legId: string | undefined
}

/** The record of this call; undefined for anything else. */
export const recordOf = (body: unknown, providerCallId: string): CallRecord | undefined => {
  const isAlive = at(body, "data", "is_alive")
  if (typeof isAlive !== "boolean" || at(body, "data", "call_control_id") !== providerCallId) return undefined
  const endTime = textAt(body, "data", "end_time") ?? ""
  return { isAlive, hasEnded: !isAlive && endTime !== "", legId: textAt(body, "data", "call_leg_id") }
}

/** The events of one leg that Telnyx has sent us, from a list of its events and commands; undefined if it is no such list. */
export const eventNamesOf = (body: unknown, legId: string): ReadonlySet<string> | undefined => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const sent = data.filter((one) => at(one, "type") === "webhook" && at(one, "call_leg_id") === legId)
  return new Set(sent.flatMap((one) => textAt(one, "name") ?? []))
}

/** A call without an `end_time`. It is ringing unless there is proof of something else. */
export const presenceOf = ({ isAlive }: CallRecord, events: ReadonlySet<string>): Presence => {
  if (!isAlive && events.has("call.hangup")) return "gone"
  return events.has("call.answered") ? "up" : "ringing"
}

interface ActiveCalls {
  /** The id of our call, if it is on this page. */
  readonly found: string | undefined
  /** Where the next page begins, if there is one. */
  readonly after: string | undefined
}

/** A page of an application's live calls; undefined if it is no such page. */
export const activeCallsOf = (body: unknown, callId: CallId): ActiveCalls | undefined => {
  const data = at(body, "data")
  if (!Array.isArray(data)) return undefined
  const state = clientStateOf(callId)
  const id = at(
    data.find((one) => at(one, "client_state") === state),
    "call_control_id"
  )
  const hasNext = (textAt(body, "meta", "next") ?? "") !== ""
  return { found: isProviderCallId(id) ? id : undefined, after: hasNext ? textAt(body, "meta", "cursors", "after") : undefined }
}
