/**
 * Finds a call whose reply was lost by its numbers and time, because Vonage takes no id of ours. Only a single match is believed.
 * https://developer.vonage.com/en/api/voice#getCalls
 */
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { callsIn, isUuid } from "./VonageReplies.ts"
import { digitsOf } from "./VonageRequest.ts"

/** How far the clocks may be apart. */
const SKEW_MILLIS = 30_000
/** The most calls that Vonage puts on a page. */
const PAGE_SIZE = 100

export const queryFor = ({ sentAt }: CallRef, listed: number): string =>
  new URLSearchParams({
    date_start: new Date(sentAt - SKEW_MILLIS).toISOString(),
    page_size: String(PAGE_SIZE),
    record_index: String(listed)
  }).toString()

/** Undefined: it is no page of a list of calls. */
export const pageOf = (reply: Reply) => {
  const [count, entries] = [numberAt(reply.body, "count"), callsIn(reply)]
  return count === undefined || entries === undefined ? undefined : { count, entries }
}

/** Undefined: none. Or why nobody can tell. */
export const theOneOf = (records: ReadonlyArray<unknown>, call: CallRef): { uuid: string; record: unknown } | string | undefined => {
  const found = new Map<string, unknown>()
  for (const record of records) {
    const uuid = at(record, "uuid")
    if (isUuid(uuid) && mayBe(record, call)) found.set(uuid, record)
  }
  const [only, second] = [...found]
  if (second !== undefined) return "several calls to this number at this time"
  return only === undefined ? undefined : { uuid: only[0], record: only[1] }
}

const mayBe = (record: unknown, { from, to }: CallRef): boolean => {
  const isNumber = (member: "from" | "to", number: string) => digitsOf(textAt(record, member, "number") ?? "") === digitsOf(number)
  return (
    textAt(record, "direction") === "outbound" && to !== undefined && isNumber("to", to) && (from === undefined || isNumber("from", from))
  )
}
