/**
 * What the records of Plivo's dialect say about a call. A queued, ringing or answered call has a live record; an ended one has a detail record,
 * some seconds later. Neither has our id: a call whose own id is not known is found by its numbers and time, if only one matches.
 */
import type { CallRef } from "#core/provider/CallRef.ts"
import type { Look } from "#core/provider/Adapter.ts"
import { at, textAt } from "./Json.ts"
import { type DialectEnd, eventsOfEnd } from "./PlivoDialectEnd.ts"
import { areNumbersOf } from "./phoneNumbers.ts"
import { idsOf, isUuid } from "./PlivoDialectIds.ts"
import { isOfItsTime } from "./theOneOf.ts"

/** The carrier's records of calls that have not ended; paths are below the account's. */
export interface LiveCalls {
  readonly pathOf: (uuid: string, state: "queued" | "live") => string
  /** The calls in this state; to this number, if the carrier can filter by it. */
  readonly listPathOf: (state: "queued" | "live", to: string) => string
  /** Whether a queued call waits until it is dialed. If not, its phone may be ringing. */
  readonly hasQueue: boolean
}

interface DetailRecord {
  readonly uuid: string
  readonly to: string | undefined
  readonly from: string | undefined
  /** When the call was requested or dialed; undefined without a time zone. */
  readonly beganAt: number | undefined
  readonly end: DialectEnd
}

/** The carrier's detail records; paths are below the account's. */
export interface Records {
  readonly pathOf: (uuid: string) => string
  /** The calls to this number since then. */
  readonly searchPathOf: (to: string, from: string | undefined, since: number) => string
  /** Undefined: not a record. */
  readonly read: (record: unknown) => DetailRecord | undefined
  readonly oneIn: (body: unknown) => unknown
  /** Undefined: not a list, or not all of it. */
  readonly allIn: (body: unknown) => ReadonlyArray<unknown> | undefined
}

/** How long the request may have been under way or in the queue. */
const UNDER_WAY_MILLIS = 120_000

const named = (call: CallRef, uuid: string): Look["told"] => (idsOf(call).call === uuid ? [] : [{ _tag: "Named", providerCallId: uuid }])

/** The look at a live record of this call; undefined for anything else. */
export const liveLookOf = (body: unknown, call: CallRef, { hasQueue }: Pick<LiveCalls, "hasQueue">): Look | undefined => {
  const [uuid, status] = [at(body, "call_uuid"), textAt(body, "call_status")]
  if (!isUuid(uuid) || status === undefined || !mayBeLive(body, call)) return undefined
  const presence = status === "queued" && hasQueue ? "queued" : status === "in-progress" ? "up" : "ringing"
  return { presence, told: named(call, uuid) }
}

const mayBeLive = (record: unknown, call: CallRef): boolean => {
  const ids = idsOf(call)
  const [uuid, request] = [textAt(record, "call_uuid"), textAt(record, "request_uuid")]
  if (ids.call !== undefined) return uuid === ids.call
  if (ids.request !== undefined && request !== undefined) return request === ids.request
  return textAt(record, "direction") === "outbound" && areNumbersOf(call, textAt(record, "to"), textAt(record, "from"))
}

export const lookOf = (call: CallRef, { end, uuid }: DetailRecord): Look => ({
  presence: "ended",
  // If we have hung up, the engine keeps its own cause.
  told: [...named(call, uuid), ...eventsOfEnd(end, true)]
})

/** Whether the record can be that of this call. */
export const mayBe = ({ beganAt, from, to }: DetailRecord, call: CallRef): boolean =>
  areNumbersOf(call, to, from) && isOfItsTime(call, beganAt, UNDER_WAY_MILLIS)
