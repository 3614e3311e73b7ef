/**
 * What a reply of Plivo's dialect proves. A call was not placed only if the carrier itself says so: its errors come with the id of the request,
 * which no proxy knows. https://www.plivo.com/docs/voice/api/response
 */
import { OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import type { Outcome, Reply } from "./HttpClient.ts"
import { at, textAt } from "./Json.ts"
import { isSuccess, notSent } from "./originated.ts"
import { isUuid } from "./PlivoDialectIds.ts"

interface Refusal {
  readonly status: number
  /** What the error says; undefined: whatever it says. */
  readonly words?: RegExp
  readonly is: Pick<OriginateRefused, "reason"> & Partial<Pick<OriginateRefused, "cause" | "retryAfterMillis">>
}

/** The first that fits counts. */
export type Refusals = ReadonlyArray<Refusal>

/** The error finds fault with this member of the request, whichever stands first. `to` and `from` are English words as well. */
export const faultWith = (name: string, otherNames: string): RegExp => {
  const fault = "(?:invalid|not (?:a )?valid|incorrect|malformed|not (?:rented|owned|verified))"
  const member = `(?:['"\`]${name}['"\`]|\\b${name} (?:number|parameter|field)|\\b(?:${otherNames})\\b)`
  return new RegExp(`${fault}.*${member}|${member}.*${fault}`, "i")
}

/** For a rate limit that comes without a time. */
export const RATE_LIMIT_RETRY_MILLIS = 5_000

/** The text of an error of the carrier itself: Plivo's is a text or says what is wrong with each member, Vobiz' has a code and a message. */
const errorOf = ({ body, status }: Reply): string | undefined => {
  const error = at(body, "error")
  const id = textAt(body, "api_id") ?? textAt(body, "requestId")
  if (status < 400 || id === undefined || error === undefined || error === null) return undefined
  return typeof error === "string" ? error : JSON.stringify(error)
}

/** Words for the operator. Digits are masked, because they may be a phone number, and so are addresses. */
export const detailOf = (reply: Reply): string => {
  const words = errorOf(reply)
    ?.replace(/https?:\S+/g, "#")
    .replace(/\d{3,}/g, "#")
  return `HTTP ${reply.status}${words === undefined ? ", not an answer of the carrier" : ` ${words.slice(0, 120)}`}`.trim()
}

/** The id of the request that was accepted, which stands in a list where several calls could have been asked for. */
export const acceptedBy = (outcome: Outcome): { readonly requestUuid: string; readonly isQueued: boolean } | undefined => {
  if (!("status" in outcome) || !isSuccess(outcome) || at(outcome.body, "error") !== undefined) return undefined
  const given = at(outcome.body, "request_uuid")
  const requestUuid: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given
  return isUuid(requestUuid) ? { requestUuid, isQueued: /queued/i.test(textAt(outcome.body, "message") ?? "") } : undefined
}

/** Undefined unless it is certain that there was no call. */
export const refusalOf = (outcome: Outcome, refusals: Refusals): OriginateRefused | undefined => {
  if (!("status" in outcome)) return notSent(outcome)
  const error = errorOf(outcome)
  if (error === undefined) return undefined
  const refusal = refusals.find(({ status, words }) => status === outcome.status && (words === undefined || words.test(error)))
  if (refusal === undefined) return undefined
  const { retryAfterMillis = refusal.is.retryAfterMillis } = outcome
  const wait = refusal.is.reason === "rate_limited" && retryAfterMillis !== undefined ? { retryAfterMillis } : {}
  return new OriginateRefused({ ...refusal.is, ...wait, detail: detailOf(outcome) })
}

/** The carrier has no trace of what was asked for. */
export const isUnknown = (reply: Reply): boolean => reply.status === 404 && errorOf(reply) !== undefined

/** What the reply to a request for a list says about the trunk. */
export const standingBy = (outcome: Outcome, list: string): TrunkStatus => {
  const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if ([401, 403, 404].includes(outcome.status) && errorOf(outcome) !== undefined) return down("auth", detailOf(outcome))
  return isSuccess(outcome) && Array.isArray(at(outcome.body, list)) ? { _tag: "Up" } : down("unreachable", detailOf(outcome))
}
