/** What Telnyx' replies prove. Only its own documented errors are proof; a proxy on the way can produce any status. */
import { type OriginateDoubtful, OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import type { Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { doubtOf, isSuccess, notSent } from "#adapters/shared/originated.ts"
import { refusals } from "./codes.ts"

/** For a rate limit that comes without a time. */
const RATE_LIMIT_RETRY_MILLIS = 5_000

interface TelnyxError {
  /** The HTTP status and Telnyx' code. */
  readonly key: string
  /** The member of the request that is wrong, such as `/to`. */
  readonly pointer: string | undefined
}

/** The errors in a reply, or none if any of them does not have the documented form. */
const errorsOf = ({ body, status }: Reply): ReadonlyArray<TelnyxError> => {
  const errors = at(body, "errors")
  if (!Array.isArray(errors) || at(body, "data") !== undefined) return []
  const read = errors.map((error: unknown) => ({ code: textAt(error, "code") ?? "", pointer: textAt(error, "source", "pointer") }))
  const isDocumented = read.every(({ code }) => /^[A-Z]?\d{1,6}$/.test(code))
  return isDocumented ? read.map(({ code, pointer }) => ({ key: `${status} ${code}`, pointer })) : []
}

const hasError = (reply: Reply, key: string): boolean => errorsOf(reply).some((error) => error.key === key)

/** The status, and Telnyx' code if there is one. */
export const whatIsWrong = (reply: Reply): string => `HTTP ${errorsOf(reply)[0]?.key ?? reply.status}`

/** What a dial has come to: the id of a call, proof that there is none, or doubt. */
export const originated = (outcome: Outcome): { readonly providerCallId: string } | OriginateRefused | OriginateDoubtful => {
  if (!("status" in outcome)) return notSent(outcome) ?? doubtOf(outcome, whatIsWrong)
  // `is_alive` says nothing yet: it may be false right after the dial.
  const providerCallId = at(outcome.body, "data", "call_control_id")
  const isPlaced = isSuccess(outcome) && at(outcome.body, "errors") === undefined
  return isPlaced && isProviderCallId(providerCallId) ? { providerCallId } : (refusalOf(outcome) ?? doubtOf(outcome, whatIsWrong))
}

/** A refusal only if each error proves that there was no call. */
const refusalOf = (reply: Reply): OriginateRefused | undefined => {
  const read = errorsOf(reply).map((error) => refusalBy(reply, error))
  const known = read.filter((refusal) => refusal !== undefined)
  if (known.length < read.length) return undefined
  // If something besides the number is wrong, the contact is not to blame.
  return known.find(({ reason }) => reason !== "number_refused") ?? known[0]
}

const refusalBy = ({ retryAfterMillis = RATE_LIMIT_RETRY_MILLIS, status }: Reply, { key, pointer }: TelnyxError) => {
  const known = refusals[key]
  if (known === undefined) return undefined
  const blamed = pointer === "/from" ? "caller_id_refused" : pointer === "/to" ? "number_refused" : known.reason
  const reason = status === 400 || status === 422 ? blamed : known.reason
  return new OriginateRefused({
    reason,
    detail: `HTTP ${key}: ${known.words}${pointer === "/from" ? " (the caller id)" : ""}`,
    ...(reason === "number_refused" ? { cause: "invalid_number_format" as const } : {}),
    ...(reason === "rate_limited" ? { retryAfterMillis } : {})
  })
}

/** Whether a command was carried out. A 200 that says anything but "ok" is no success. */
export const isDone = (reply: Reply): boolean => isSuccess(reply) && textAt(reply.body, "data", "result") === "ok"

/** The call has ended already. */
export const isEndedAlready = (reply: Reply): boolean => hasError(reply, "422 90018")

/** Telnyx has no trace of what was asked for. It keeps a call for ten minutes after its end. */
export const isUnknown = (reply: Reply): boolean => hasError(reply, "404 10005")

/** What the reply to a request for the application, or for a list, says about the trunk. */
export const statusOf = (outcome: Outcome): TrunkStatus => {
  const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (isUnknown(outcome)) return down("auth", "the account has no Call Control application with this `connection_id`")
  if (hasError(outcome, "401 10009") || hasError(outcome, "403 10010")) return down("auth", whatIsWrong(outcome))
  const data = at(outcome.body, "data")
  const isAccepted = Array.isArray(data) || textAt(data, "record_type") === "call_control_application"
  return isSuccess(outcome) && isAccepted ? { _tag: "Up" } : down("unreachable", `${whatIsWrong(outcome)}, not the application's record`)
}

/** A page of a list; undefined if it is none. */
export const listedIn = (reply: Reply) => {
  const [count, entries] = [numberAt(reply.body, "meta", "total_results"), at(reply.body, "data")]
  return isSuccess(reply) && count !== undefined && Array.isArray(entries) ? { count, entries } : undefined
}
