/**
 * Finds a call whose reply was lost by its numbers and time, because Twilio takes no id of ours. Only a single match is believed.
 * https://www.twilio.com/docs/voice/api/call-resource#read-multiple-call-resources
 */
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, textAt, timeIn } from "#adapters/shared/Json.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { isCallSid } from "./TwilioReplies.ts"

/** How far the clocks may be apart, and how long the request may have been under way. */
const SKEW_MILLIS = 30_000
const UNDER_WAY_MILLIS = 60_000

/** A call in the queue has no start time, and is listed by its status. None if the number is not known. */
export const queriesFor = ({ sentAt, to }: CallRef): ReadonlyArray<string> => {
  if (to === undefined) return []
  const day = new Date(sentAt - SKEW_MILLIS).toISOString().slice(0, 10)
  const filters: ReadonlyArray<Readonly<Record<string, string>>> = [{ Status: "queued" }, { "StartTime>": day }]
  return filters.map((filter) => new URLSearchParams({ To: to, ...filter, PageSize: "100" }).toString())
}

/** Undefined: none. Or why nobody can tell. The last reply counts for a call that is in several. */
export const theOneOf = (replies: ReadonlyArray<Reply>, call: CallRef): { sid: string; record: unknown } | string | undefined => {
  if (replies.length === 0) return "neither the call's id nor its number is known"
  const found = new Map<string, unknown>()
  for (const { body, status } of replies) {
    const calls = at(body, "calls")
    if (status !== 200 || !Array.isArray(calls)) return `HTTP ${status} without a list of calls`
    if (textAt(body, "next_page_uri") !== undefined) return "too many calls to this number"
    for (const record of calls) {
      const sid = at(record, "sid")
      if (isCallSid(sid) && mayBe(record, call)) found.set(sid, record)
    }
  }
  const [only, second] = [...found]
  if (second !== undefined) return "several calls to this number at this time"
  return only === undefined ? undefined : { sid: only[0], record: only[1] }
}

const mayBe = (record: unknown, { from, sentAt, to }: CallRef): boolean => {
  const createdAt = timeIn(textAt(record, "date_created"))
  return (
    textAt(record, "direction") === "outbound-api" &&
    textAt(record, "to") === to &&
    (from === undefined || textAt(record, "from") === from) &&
    createdAt !== undefined &&
    createdAt >= sentAt - SKEW_MILLIS &&
    createdAt <= sentAt + UNDER_WAY_MILLIS
  )
}
