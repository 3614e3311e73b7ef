/**
 * The two ids of a call in Plivo's dialect: the request's, from its reply, and the call's, from the first callback. Only the latter works with
 * every verb, so the request's id is stored with a prefix that says what it is.
 */
import type { CallRef } from "#core/provider/CallRef.ts"

const REQUEST = "request:"

/** No other id may get into a path: a hang-up with an empty one ends all calls of the account. */
export const isUuid = (id: unknown): id is string => typeof id === "string" && /^[0-9A-Za-z-]{8,100}$/.test(id)

export const nameOfRequest = (uuid: string): string => REQUEST + uuid

/** At most one of them is known. */
export const idsOf = ({ providerCallId = "" }: Pick<CallRef, "providerCallId">): { readonly call?: string; readonly request?: string } => {
  if (providerCallId.startsWith(REQUEST)) {
    const request = providerCallId.slice(REQUEST.length)
    return isUuid(request) ? { request } : {}
  }
  return isUuid(providerCallId) ? { call: providerCallId } : {}
}
