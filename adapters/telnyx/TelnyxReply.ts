/** What Telnyx' replies prove. Only its own documented errors are proof; a proxy on the way can produce any status. */
import { OriginateDoubtful, OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import { NotSent, type Outcome, type Reply } from "#adapters/shared/HttpClient.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { originateErrors } from "./originateErrors.ts"

/** For a rate limit that comes without a time. */
const RATE_LIMIT_RETRY_MILLIS = 5_000

const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300

interface TelnyxError {
  readonly code: string
  /** The member of the request that is wrong, such as `/to`. */
  readonly pointer: string | undefined
}

/** The errors in a reply, or none if any of them has not the documented form. */
const errorsOf = ({ body }: Reply): ReadonlyArray<TelnyxError> => {
  const errors = at(body, "errors")
  if (!Array.isArray(errors)) return []
  const read = errors.flatMap((error: unknown) => {
    const code = textAt(error, "code")
    return code === undefined ? [] : [{ code, pointer: textAt(error, "source", "pointer") }]
  })
  return read.length === errors.length ? read : []
}

const hasError = (reply: Reply, status: number, code: string): boolean =>
  reply.status === status && errorsOf(reply).some((error) => error.code === code)

/** The id of the call that a dial has placed. `is_alive` says nothing yet: it may be false right after the dial. */
const placedIn = (reply: Reply): string | undefined => {
  const id = at(reply.body, "data", "call_control_id")
  return isSuccess(reply) && at(reply.body, "errors") === undefined && isProviderCallId(id) ? id : undefined
}

/** A refusal only if it is certain that there was no call. */
const refusalOf = (reply: Reply): OriginateRefused | undefined => {
  const errors = errorsOf(reply)
  const refusals = errors.map(({ code, pointer }) => refusalBy(reply, code, pointer))
  const known = refusals.filter((refusal) => refusal !== undefined)
  if (known.length === 0 || known.length < refusals.length) return undefined
  // If something besides the number is wrong, the contact is not to blame.
  return known.find(({ reason }) => reason !== "number_refused") ?? known[0]
}

const refusalBy = (reply: Reply, code: string, pointer: string | undefined): OriginateRefused | undefined => {
  const { retryAfterMillis = RATE_LIMIT_RETRY_MILLIS, status } = reply
  const meaning = originateErrors[`${status} ${code}`]
  if (meaning === undefined) return undefined
  const detail = `HTTP ${status}, ${code}: ${meaning.words}`
  if (meaning.reason === "rate_limited") return new OriginateRefused({ reason: "rate_limited", retryAfterMillis, detail })
  const isInvalid = status === 400 || status === 422
  if (isInvalid && pointer === "/from") return new OriginateRefused({ reason: "misconfigured", detail: `${detail} (the caller id)` })
  return meaning.reason === "number_refused" || (isInvalid && pointer === "/to")
    ? new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail })
    : new OriginateRefused({ reason: meaning.reason, detail })
}

/** What a dial has come to: the id of a call, proof that there is none, or doubt. */
export const originated = (outcome: Outcome): { readonly providerCallId: string } | OriginateRefused | OriginateDoubtful => {
  if (outcome instanceof NotSent)
    return new OriginateRefused({ reason: outcome.withdrawn ? "permit_lapsed" : "unreachable", detail: outcome.detail })
  if (!("status" in outcome)) return new OriginateDoubtful({ detail: outcome.detail })
  const { retryAfterMillis, status } = outcome
  const providerCallId = placedIn(outcome)
  if (providerCallId !== undefined) return { providerCallId }
  const detail = isSuccess(outcome) ? `HTTP ${status} without the id of a call` : whatIsWrong(outcome)
  const wait = retryAfterMillis === undefined ? {} : { retryAfterMillis }
  return refusalOf(outcome) ?? new OriginateDoubtful({ status, ...wait, detail })
}

/** The status, and Telnyx' codes if there are any. */
export const whatIsWrong = (reply: Reply): string => {
  const codes = errorsOf(reply).flatMap(({ code }) => (/^[A-Z]?\d{1,6}$/.test(code) ? [code] : []))
  return [`HTTP ${reply.status}`, ...codes.slice(0, 3)].join(", ")
}

/** Whether a command was carried out. A 200 that says anything but "ok" is no success. */
export const isDone = (reply: Reply): boolean => isSuccess(reply) && textAt(reply.body, "data", "result") === "ok"

/** The call has ended already. */
export const isEndedAlready = (reply: Reply): boolean => hasError(reply, 422, "90018")

/** Telnyx has no trace of what was asked for. It keeps a call for ten minutes after its end. */
export const isUnknown = (reply: Reply): boolean => hasError(reply, 404, "10005")

const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })

/** The API key is wrong, or may not read the application. */
export const isKeyRefused = (reply: Reply): boolean => hasError(reply, 401, "10009") || hasError(reply, 403, "10010")

/** The record of a Call Control application. */
export const isApplication = (reply: Reply): boolean =>
  isSuccess(reply) && textAt(reply.body, "data", "record_type") === "call_control_application"

/** What the reply to a request for the application says about the trunk; undefined if it says nothing, because of a rate limit. */
export const statusOf = (outcome: Outcome): TrunkStatus | undefined => {
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (isKeyRefused(outcome)) return down("auth", `Telnyx rejects the API key (${whatIsWrong(outcome)})`)
  if (isUnknown(outcome)) return down("unreachable", "the account has no Call Control application with this connection_id")
  if (hasError(outcome, 429, "10011")) return undefined
  return isApplication(outcome) ? { _tag: "Up" } : down("unreachable", `${whatIsWrong(outcome)}, not the application's record`)
}
