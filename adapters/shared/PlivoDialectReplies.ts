/**
 * What a reply of Plivo's dialect proves. A call was not placed only if the carrier itself says so: its errors come with the id of the request,
 * which no proxy knows. https://www.plivo.com/docs/voice/api/response
 */
import type { Reply } from "./HttpClient.ts"
import { at, masked, textAt } from "./Json.ts"
import { isUuid, nameOfRequest } from "./PlivoDialectIds.ts"
import { type CarrierReplies, isErrorOf, type Refusal } from "./replies.ts"

/** The first match counts. `words`: what the error says; undefined: any text. */
export type Refusals = ReadonlyArray<{ readonly status: number; readonly words?: RegExp; readonly is: Refusal }>

/** Matches an error about this member of the request, if it is the first one named. `to` and `from` are also English words. */
export const faultWith = (name: string, otherNames: string): RegExp => {
  const fault = "(?:invalid|not (?:a )?valid|incorrect|malformed|not (?:rented|owned|verified))"
  const member = `(?:['"\`]${name}['"\`]|\\b${name} (?:number|parameter|field)|\\b(?:${otherNames})\\b)`
  return new RegExp(`${fault}.*${member}|${member}.*${fault}`, "i")
}

/** For a rate limit that comes without a time. */
export const RATE_LIMIT_RETRY_MILLIS = 5_000

/** Characters. The words that tell what is wrong come first, and are searched for two faults in any order. */
const LONGEST_ERROR = 2000

/** The text of the carrier's own error: Plivo's is a text or describes the fault of each member, Vobiz' has a code and a message. */
const errorOf = ({ body, status }: Reply): string | undefined => {
  const error = at(body, "error")
  const id = textAt(body, "api_id") ?? textAt(body, "requestId")
  if (status < 400 || id === undefined || error === undefined || error === null) return undefined
  return (typeof error === "string" ? error : JSON.stringify(error)).slice(0, LONGEST_ERROR)
}

/** The id of the accepted request, which is in a list if several calls could have been requested. */
export const acceptedBy = (body: unknown): { readonly requestUuid: string; readonly isQueued: boolean } | undefined => {
  const given = at(body, "request_uuid")
  const requestUuid: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given
  if (at(body, "error") !== undefined || !isUuid(requestUuid)) return undefined
  return { requestUuid, isQueued: /queued/i.test(textAt(body, "message") ?? "") }
}

export const refusalIn = (reply: Reply, refusals: Refusals): Refusal | undefined => {
  const error = errorOf(reply)
  if (error === undefined) return undefined
  return refusals.find(({ status, words }) => status === reply.status && (words === undefined || words.test(error)))?.is
}

/** `hasOneId`: a request has the same id as its call. */
export const dialectReplies = (refusals: Refusals, { hasOneId }: { readonly hasOneId: boolean }): CarrierReplies => ({
  errorIn,
  isMissing: (reply) => isErrorOf({ errorIn }, reply, 404),
  placedIn: (body) => {
    const { requestUuid } = acceptedBy(body) ?? {}
    return requestUuid === undefined || hasOneId ? requestUuid : nameOfRequest(requestUuid)
  },
  refusalIn: (reply) => refusalIn(reply, refusals)
})

const errorIn = (reply: Reply): string | undefined => {
  const error = errorOf(reply)
  return error === undefined ? undefined : masked(error)
}
