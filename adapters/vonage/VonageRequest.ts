/** The request for a call. https://developer.vonage.com/en/api/voice#createCall */
import { carrierLimitSeconds } from "#adapters/shared/originated.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"
import { contentType } from "./VonageMedia.ts"

/** Limits of `ringing_timer` and `length_timer`. */
export const LONGEST_RING_SECONDS = 120
export const LONGEST_CALL_SECONDS = 7200
/** How long a machine's beep is waited for: the shortest time that Vonage takes. */
const BEEP_SECONDS = 45

interface Addresses {
  readonly eventUrl: string
  /** Where the call's audio is served; undefined: nowhere. */
  readonly mediaUrl: string | undefined
}

/** Vonage writes numbers without the plus. */
export const digitsOf = (number: string): string => number.replace(/^\+/, "")

const within = (seconds: number, most: number): number => Math.min(Math.max(1, Math.ceil(seconds)), most)

/** For a request that is usable. */
export const bodyOf = (request: OriginateRequest, addresses: Addresses) => {
  const { detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  return {
    to: [{ type: "phone", number: digitsOf(to) }],
    from: { type: "phone", number: digitsOf(from) },
    ncco: answerDocument(request, addresses),
    event_url: [addresses.eventUrl],
    event_method: "POST",
    ringing_timer: within(ringTimeoutSeconds, LONGEST_RING_SECONDS),
    length_timer: within(carrierLimitSeconds(maxDurationSeconds), LONGEST_CALL_SECONDS),
    ...(detect === "who" ? { machine_detection: "continue" } : {}),
    ...(detect === "greetingEnd"
      ? { advanced_machine_detection: { behavior: "continue", mode: "detect_beep", beep_timeout: BEEP_SECONDS } }
      : {})
  }
}

/** Nothing follows the websocket, so the call ends when it is closed. Without audio, a conversation of one keeps the line open until the engine ends it. */
const answerDocument = ({ callId, from = "" }: OriginateRequest, { eventUrl, mediaUrl }: Addresses): ReadonlyArray<object> => {
  if (mediaUrl === undefined) return [{ action: "conversation", name: callId }]
  const endpoint = { type: "websocket", uri: mediaUrl, "content-type": contentType }
  return [{ action: "connect", from: digitsOf(from), eventUrl: [eventUrl], endpoint: [endpoint] }]
}
