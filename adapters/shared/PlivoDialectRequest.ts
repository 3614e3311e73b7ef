/** The request for a call in Plivo's dialect. https://www.plivo.com/docs/voice/api/call/make-a-call */
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import type { Addresses } from "./hostedTrunk.ts"
import { digitsOf } from "./phoneNumbers.ts"
import { durationWithin, secondsWithin } from "./requests.ts"

export const RING_SECONDS = { least: 1, most: 600 }
export const CALL_SECONDS = { least: 1, most: 14_400 }

/** The kinds of callback addresses that a call has. */
export type Kind = "answer" | "hangup" | "machine" | "ring"

/** `retries`: the fragment that requests retries of callbacks, if the carrier has one. */
export const callBodyOf = (request: OriginateRequest, { callbackUrl }: Addresses, retries: string) => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  const addressOf = (kind: Kind): string => callbackUrl(kind, callId) + retries
  return {
    // `<` separates several destinations, which a number in E.164 cannot contain.
    from: digitsOf(from),
    to: digitsOf(to),
    answer_url: addressOf("answer"),
    answer_method: "POST",
    ring_url: addressOf("ring"),
    ring_method: "POST",
    // Otherwise the end is reported to the answer address.
    hangup_url: addressOf("hangup"),
    hangup_method: "POST",
    ring_timeout: secondsWithin(ringTimeoutSeconds, RING_SECONDS),
    time_limit: durationWithin(maxDurationSeconds, CALL_SECONDS),
    // With its own address, detection does not keep the callee waiting. It does not report the end of a greeting.
    ...(detect === "no" ? {} : { machine_detection: "true", machine_detection_url: addressOf("machine"), machine_detection_method: "POST" })
  }
}
