/**
 * What a carrier's reply proves. A call was not placed only if the carrier itself says so: a proxy on the way can produce any status.
 */
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import { OriginateDoubtful, OriginateRefused, type TrunkStatus } from "#core/provider/Adapter.ts"
import { type HttpRequest, NotSent, type Outcome, type Reply } from "./HttpClient.ts"

/** Why there is certainly no call. */
export interface Refusal {
  readonly reason: OriginateRefused["reason"]
  /** What is wrong with a refused number; by default, it is invalid. */
  readonly cause?: HangupCause
  /** For a rate limit, if the reply does not say how long to wait. */
  readonly retryAfterMillis?: number
  /** For the operator, without numbers; by default, the carrier's own error. */
  readonly detail?: string
}

/** How to read a carrier's replies. */
export interface CarrierReplies {
  /** The carrier's own error, for the operator, without numbers or credentials. Undefined for everything else, whatever its status. */
  readonly errorIn: (reply: Reply) => string | undefined
  /** The carrier itself says that it has no such call. */
  readonly isMissing: (reply: Reply) => boolean
  /** The id of the placed call, in a reply with a success status. */
  readonly placedIn: (body: unknown) => string | undefined
  /** Undefined unless it is certain that there is no call. */
  readonly refusalIn: (reply: Reply) => Refusal | undefined
}

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300

/** An error of the carrier itself with one of these statuses. */
export const isErrorOf = ({ errorIn }: Pick<CarrierReplies, "errorIn">, reply: Reply, ...statuses: ReadonlyArray<number>): boolean =>
  statuses.includes(reply.status) && errorIn(reply) !== undefined

/** Describes an unexpected reply. */
export const detailOf = (reply: Reply, { errorIn }: Pick<CarrierReplies, "errorIn">): string => {
  const error = errorIn(reply)
  return error === undefined ? `HTTP ${reply.status}, not an answer that the carrier documents` : `HTTP ${reply.status} ${error}`.trim()
}

/** The outcome of a request for a call: the carrier's id of it, proof that there is none, or doubt. */
export const originated = (
  outcome: Outcome,
  replies: CarrierReplies
): { readonly providerCallId: string } | OriginateRefused | OriginateDoubtful => {
  if (outcome instanceof NotSent)
    return new OriginateRefused({ reason: outcome.withdrawn ? "permit_lapsed" : "unreachable", detail: outcome.detail })
  if (!("status" in outcome)) return new OriginateDoubtful({ detail: outcome.detail })
  const providerCallId = isSuccess(outcome) ? replies.placedIn(outcome.body) : undefined
  if (providerCallId !== undefined) return { providerCallId }
  const refusal = replies.refusalIn(outcome)
  return refusal === undefined ? doubtOf(outcome, replies) : refused(outcome, refusal, replies)
}

const doubtOf = (reply: Reply, replies: CarrierReplies): OriginateDoubtful => {
  const { retryAfterMillis, status } = reply
  const detail = isSuccess(reply) ? `HTTP ${status} without a call` : detailOf(reply, replies)
  return new OriginateDoubtful({ status, detail, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) })
}

const refused = (reply: Reply, refusal: Refusal, replies: CarrierReplies): OriginateRefused => {
  const { detail = detailOf(reply, replies), reason } = refusal
  const { retryAfterMillis = refusal.retryAfterMillis } = reply
  return new OriginateRefused({
    reason,
    detail,
    ...(reason === "number_refused" ? { cause: refusal.cause ?? "invalid_number_format" } : {}),
    ...(reason === "rate_limited" && retryAfterMillis !== undefined ? { retryAfterMillis } : {})
  })
}

/** A request that needs the credentials and changes nothing. */
export interface AccountCheck {
  readonly request: HttpRequest
  /** Whether the reply is the expected one. */
  readonly isShownBy: (body: unknown) => boolean
  /** Statuses with which the carrier's own errors refuse the credentials, or their use. */
  readonly refusedWith: ReadonlyArray<number>
  /** Why a reply refuses them in another way; undefined: it does not. */
  readonly refusalIn?: (reply: Reply) => string | undefined
}

/** What the outcome of the check says about the trunk. */
export const standingOf = (outcome: Outcome, { isShownBy, refusalIn, refusedWith }: AccountCheck, replies: CarrierReplies): TrunkStatus => {
  const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  const why = refusalIn?.(outcome)
  if (why !== undefined) return down("auth", why)
  const detail = detailOf(outcome, replies)
  if (isErrorOf(replies, outcome, ...refusedWith)) return down("auth", detail)
  return isSuccess(outcome) && isShownBy(outcome.body) ? { _tag: "Up" } : down("unreachable", detail)
}
