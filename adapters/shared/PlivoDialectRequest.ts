/** The request for a call in Plivo's dialect. https://www.plivo.com/docs/voice/api/call/make-a-call */
import type { OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"
import { carrierLimitSeconds } from "./originated.ts"
import type { Kind } from "./PlivoDialectCallback.ts"
import { MEDIA_PARAMETER } from "./PlivoDialectDocument.ts"

export type Addresses = NonNullable<TrunkContext["callbackUrl"]>

export const RING_SECONDS = { least: 1, most: 600 }
export const CALL_SECONDS = { least: 1, most: 14_400 }

const within = (seconds: number, { least, most }: { readonly least: number; readonly most: number }): number =>
  Math.min(Math.max(Math.ceil(seconds), least), most)

/** `<` separates several destinations, and a number without its plus cannot contain one: it has been found to be E.164. */
const digitsOf = (number: string): string => number.replace(/^\+/, "")

interface Given {
  readonly callbackUrl: Addresses
  /** Where the carrier is to open a socket for the audio of the call; undefined: it has none. */
  readonly mediaUrl: string | undefined
  /** The fragment that asks the carrier to repeat a callback, if it has one. */
  readonly retries: string
}

/** Whoever answers the request for the document knows nothing but its address, so that names the socket. */
const withMedia = (address: string, mediaUrl: string | undefined): string =>
  mediaUrl === undefined ? address : `${address}${address.includes("?") ? "&" : "?"}${MEDIA_PARAMETER}=${encodeURIComponent(mediaUrl)}`

export const callBodyOf = (request: OriginateRequest, { callbackUrl, mediaUrl, retries }: Given) => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  const addressOf = (kind: Kind): string => callbackUrl(kind, callId) + retries
  return {
    from: digitsOf(from),
    to: digitsOf(to),
    answer_url: withMedia(callbackUrl("answer" satisfies Kind, callId), mediaUrl) + retries,
    answer_method: "POST",
    ring_url: addressOf("ring"),
    ring_method: "POST",
    // Otherwise the end is told to the address of the answer.
    hangup_url: addressOf("hangup"),
    hangup_method: "POST",
    ring_timeout: within(ringTimeoutSeconds, RING_SECONDS),
    time_limit: within(carrierLimitSeconds(maxDurationSeconds), CALL_SECONDS),
    // With an address of its own, the detection does not keep the callee waiting. It does not tell the end of a greeting.
    ...(detect === "no" ? {} : { machine_detection: "true", machine_detection_url: addressOf("machine"), machine_detection_method: "POST" })
  }
}
