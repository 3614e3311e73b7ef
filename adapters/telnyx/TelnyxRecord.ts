/** What Telnyx' records say about a call. They know whether it is alive, but only its events tell whether it was answered. */
import { timeOf } from "#adapters/shared/callEvents.ts"
import { at, textAt, timeIn } from "#adapters/shared/Json.ts"
import type { CallId } from "#core/Id.ts"
import type { Look } from "#core/provider/Adapter.ts"
import { clientStateOf } from "./TelnyxCallback.ts"

/** The record of this call; undefined for anything else. It has ended only with the time of its end: right after the dial a call may be not alive yet. */
export const recordOf = (body: unknown, providerCallId: string) => {
  const isAlive = at(body, "data", "is_alive")
  const legId = textAt(body, "data", "call_leg_id")
  if (typeof isAlive !== "boolean" || legId === undefined || at(body, "data", "call_control_id") !== providerCallId) return undefined
  return { isAlive, hasEnded: !isAlive && (textAt(body, "data", "end_time") ?? "") !== "", legId }
}

/**
 * What the list of its events tells of a call: it is ringing unless there is proof of something else. Of a call that has ended, it tells whether it
 * was answered; how it ended, only its webhooks do.
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

/** A page of the application's live calls, which is the last one to read if ours is on it. Undefined: it is no such page. */
export const activeCallsIn = (body: unknown, callId: CallId) => {
  const entries = at(body, "data")
  if (!Array.isArray(entries)) return undefined
  return { entries, isLast: entries.some((record) => isOf(callId, record)) || cursorIn(body) === undefined }
}

/** Where the next page begins; undefined: nowhere. */
export const cursorIn = (body: unknown): string | undefined =>
  (textAt(body, "meta", "next") ?? "") === "" ? undefined : textAt(body, "meta", "cursors", "after")
