/**
 * What a reply of Twilio's REST interface proves. A call was not placed only if Twilio itself says so: its errors have a code and repeat the HTTP
 * status, which no proxy does. https://www.twilio.com/docs/api/errors
 */
import type { Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { complaint, numberAt, textAt } from "#adapters/shared/Json.ts"
import { isSuccess, notSent } from "#adapters/shared/originated.ts"
import { OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { refusalsByCode, refusalsByStatus } from "./twilioCodes.ts"

export const isCallSid = (sid: unknown): sid is string => typeof sid === "string" && /^CA[0-9a-fA-F]{32}$/.test(sid)

/** The code of an error of Twilio itself. */
export const errorCodeOf = ({ body, status }: Reply): number | undefined => {
  const code = numberAt(body, "code")
  return status >= 400 && Number.isInteger(code) && numberAt(body, "status") === status ? code : undefined
}

/** Words for the operator: neither numbers nor the account's id. */
export const detailOf = (reply: Reply): string => {
  const code = errorCodeOf(reply)
  const words = complaint(reply.body).replace(/\b(AC|CA)\w[\w#]*/g, "$1#")
  return `HTTP ${reply.status}${code === undefined ? ", not an answer of Twilio" : ` ${code} ${words}`}`.trim()
}

/** Undefined: not the reply that it should be. */
export const placedSid = (outcome: Outcome): string | undefined => {
  if (!("status" in outcome) || !isSuccess(outcome)) return undefined
  const sid = textAt(outcome.body, "sid")
  return isCallSid(sid) ? sid : undefined
}

/** Undefined unless it is certain that there was no call. */
export const refusalOf = (outcome: Outcome): OriginateRefused | undefined => {
  if (!("status" in outcome)) return notSent(outcome)
  const code = errorCodeOf(outcome)
  const byStatus = refusalsByStatus.get(outcome.status)
  if (code === undefined || byStatus === undefined) return undefined
  const { retryAfterMillis } = outcome
  const refusal = refusalsByCode.get(code) ?? byStatus
  const wait = refusal.reason === "rate_limited" && retryAfterMillis !== undefined ? { retryAfterMillis } : {}
  return new OriginateRefused({ ...refusal, ...wait, detail: detailOf(outcome) })
}

/** There is no such call, or no such account. */
export const isNotFound = (reply: Reply): boolean => reply.status === 404 && errorCodeOf(reply) === 20404

/** The reply shows this call. */
export const shows = (reply: Reply, sid: string): boolean => isSuccess(reply) && textAt(reply.body, "sid") === sid

const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })

/** What the record of the account says about the trunk. */
export const standingOf = (outcome: Outcome, accountSid: string): TrunkStatus => {
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if ([401, 403, 404].includes(outcome.status) && errorCodeOf(outcome) !== undefined) return down("auth", detailOf(outcome))
  const isAccount = isSuccess(outcome) && textAt(outcome.body, "sid") === accountSid
  if (!isAccount) return down("unreachable", detailOf(outcome))
  return textAt(outcome.body, "status") === "active" ? { _tag: "Up" } : down("auth", "the account is not active")
}
