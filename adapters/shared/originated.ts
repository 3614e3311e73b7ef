/** What the outcome of a request for a call proves, whoever the carrier is. */
import { OriginateDoubtful, OriginateRefused } from "#core/provider/Adapter.ts"
import { NotSent, type Outcome, type Reply } from "./HttpClient.ts"

export const isSuccess = ({ status }: Reply): boolean => status >= 200 && status < 300

/** The limit that a carrier is given for a call: the engine ends it sooner, unless it has died. */
export const carrierLimitSeconds = (maxDurationSeconds: number): number => Math.ceil(maxDurationSeconds) + 30

/** The request never left. */
export const notSent = (outcome: Outcome): OriginateRefused | undefined =>
  outcome instanceof NotSent
    ? new OriginateRefused({ reason: outcome.withdrawn ? "permit_lapsed" : "unreachable", detail: outcome.detail })
    : undefined

/** For an outcome that proves nothing. `describe` says what is in a reply, without numbers or credentials. */
export const doubtOf = (outcome: Outcome, describe: (reply: Reply) => string): OriginateDoubtful => {
  if (!("status" in outcome)) return new OriginateDoubtful({ detail: outcome.detail })
  const { retryAfterMillis, status } = outcome
  const detail = isSuccess(outcome) ? `HTTP ${status} without a call` : describe(outcome)
  return new OriginateDoubtful({ status, detail, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) })
}
