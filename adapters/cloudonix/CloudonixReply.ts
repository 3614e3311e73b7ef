/**
 * What Cloudonix' replies prove. The form of its errors is not documented beyond the status, and a proxy on the way can produce any status; so an
 * error counts as Cloudonix' own only if it is a JSON object that names no call.
 */
import type { Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { at, complaint, textAt } from "#adapters/shared/Json.ts"
import { doubtOf, isSuccess, notSent } from "#adapters/shared/originated.ts"
import { type OriginateDoubtful, OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { blamed, refusals } from "./codes.ts"

/** The window of Cloudonix' rate limit, for a 429 that does not say how long to wait. */
const RATE_LIMIT_RETRY_MILLIS = 10_000

/** A session's token goes into paths. */
export const isToken = (token: unknown): token is string => typeof token === "string" && /^[A-Za-z0-9_-]{8,128}$/.test(token)

const isOwnError = ({ body, status }: Reply): boolean =>
  status >= 400 && typeof body === "object" && body !== null && !Array.isArray(body) && at(body, "token") === undefined

/** For the operator, without numbers. */
export const whatIsWrong = (reply: Reply): string =>
  isOwnError(reply) ? `HTTP ${reply.status} ${complaint(reply.body)}`.trim() : `HTTP ${reply.status}, not an answer of Cloudonix`

/** What a request for a call has come to: the id of a session, proof that there is none, or doubt. */
export const originated = (outcome: Outcome): { readonly providerCallId: string } | OriginateRefused | OriginateDoubtful => {
  if (!("status" in outcome)) return notSent(outcome) ?? doubtOf(outcome, whatIsWrong)
  const token = at(outcome.body, "token")
  const isPlaced = isSuccess(outcome) && at(outcome.body, "error") === undefined && isToken(token)
  return isPlaced ? { providerCallId: token } : (refusalOf(outcome) ?? doubtOf(outcome, whatIsWrong))
}

const refusalOf = (reply: Reply): OriginateRefused | undefined => {
  const { body, retryAfterMillis = RATE_LIMIT_RETRY_MILLIS, status } = reply
  const byStatus = isOwnError(reply) ? refusals.get(status) : undefined
  if (byStatus === undefined) return undefined
  const text = textAt(body, "message") ?? textAt(body, "error") ?? ""
  const isInvalid = status === 400 || status === 422
  const { cause, reason, words } = (isInvalid ? blamed.find(([part]) => part.test(text))?.[1] : undefined) ?? byStatus
  return new OriginateRefused({
    reason,
    detail: `HTTP ${status}: ${words}`,
    ...(cause === undefined ? {} : { cause }),
    ...(reason === "rate_limited" ? { retryAfterMillis } : {})
  })
}

/** Cloudonix has no such session, or no longer. */
export const isNotFound = (reply: Reply): boolean => reply.status === 404 && isOwnError(reply)

/** What the record of the domain says about the trunk. */
export const statusOf = (outcome: Outcome): TrunkStatus => {
  const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (isNotFound(outcome)) return down("auth", "Cloudonix has no domain of this name for the API key")
  if ([401, 403].includes(outcome.status) && isOwnError(outcome)) return down("auth", whatIsWrong(outcome))
  const isDomain = isSuccess(outcome) && textAt(outcome.body, "uuid") !== undefined
  return isDomain ? { _tag: "Up" } : down("unreachable", `${whatIsWrong(outcome)}, not the domain's record`)
}

/** The domain's numbers, in E.164. Undefined: it is no list of numbers. */
export const numbersIn = ({ body, status }: Reply): ReadonlyArray<string> | undefined => {
  if (status !== 200 || !Array.isArray(body)) return undefined
  const digits = body.map((one: unknown) => (textAt(one, "source") ?? textAt(one, "dnid") ?? "").replace(/^\+/, ""))
  return digits.filter((number) => /^[1-9]\d{6,14}$/.test(number)).map((number) => `+${number}`)
}
