/**
 * Finds a call whose reply was lost by its numbers and time, at carriers that accept no id of ours. A match is only believed if it is the only
 * one, not counting our other calls.
 */
import { Effect } from "effect"
import type { Look, ProviderError } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { HostedCarrier } from "./HostedCarrier.ts"

/** How far apart the clocks may be, and how long the request may have been under way. */
const SKEW_MILLIS = 30_000
const UNDER_WAY_MILLIS = 60_000

export const sinceOf = ({ sentAt }: CallRef): number => sentAt - SKEW_MILLIS

/** Whether a record with this time can belong to the call. */
export const isOfItsTime = (call: CallRef, at: number | undefined, underWayMillis = UNDER_WAY_MILLIS): boolean =>
  at !== undefined && at >= sinceOf(call) && at <= call.sentAt + underWayMillis

/** The number to look for. */
export const calleeOf = ({ error }: Pick<HostedCarrier, "error">, { to }: CallRef): Effect.Effect<string, ProviderError> =>
  to === undefined ? Effect.fail(error("lookup", "neither the call's id nor its number is known")) : Effect.succeed(to)

interface Found<Record> {
  readonly providerCallId: string
  readonly record: Record
}

/** The call among the carrier's records, as a trunk's `find` returns it. `lookOf`: what a record says about its call. */
export const findIn = Effect.fnUntraced(function* <Record>(
  carrier: Pick<HostedCarrier, "error" | "isOthers">,
  call: CallRef,
  records: Effect.Effect<ReadonlyArray<Record>, ProviderError>,
  idOf: (record: Record) => string | undefined,
  lookOf: (record: Record) => Look | undefined
) {
  yield* calleeOf(carrier, call)
  const found = yield* theOneOf(carrier, call, yield* records, idOf)
  return found && { providerCallId: found.providerCallId, look: lookOf(found.record) }
})

/** `idOf`: the id in a record that can be the call's; undefined for any other. Of several records of one call the last counts. Undefined: none. */
export const theOneOf = Effect.fnUntraced(function* <Record>(
  { error, isOthers }: Pick<HostedCarrier, "error" | "isOthers">,
  call: CallRef,
  records: ReadonlyArray<Record>,
  idOf: (record: Record) => string | undefined
) {
  const found = new Map<string, Found<Record>>()
  for (const record of records) {
    const providerCallId = idOf(record)
    if (providerCallId !== undefined) found.set(providerCallId, { providerCallId, record })
  }
  let only: Found<Record> | undefined
  for (const one of found.values()) {
    if (yield* isOthers(call, one.providerCallId)) continue
    if (only !== undefined) return yield* error("lookup", "several calls to this number at this time")
    only = one
  }
  return only
})
