/** The request for a call. https://www.twilio.com/docs/voice/api/call-resource#create-a-call */
import { carrierLimitSeconds } from "#adapters/shared/originated.ts"
import { documentOf, element } from "#adapters/shared/xml.ts"
import type { OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"

/** What Twilio is asked to tell; `completed` stands for every end. */
const events = ["initiated", "ringing", "answered", "completed"]
/**
 * Asks for every retry that Twilio offers. A fragment is for Twilio alone: it is neither sent nor signed.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides
 */
const RETRIES = "#rc=5&rp=all"
export const LONGEST_RING_SECONDS = 600
/** Twilio ends no call later than this. */
export const LONGEST_CALL_SECONDS = 86_400
/** Without audio to connect to, the line stays open for the engine to end the call, but not for longer than this. */
const SILENCE_SECONDS = 60

export type Addresses = NonNullable<TrunkContext["callbackUrl"]>

/** The body, for a request that is usable. `mediaUrl`: where the call's audio is served; undefined: nowhere. */
export const formOf = (request: OriginateRequest, callbackUrl: Addresses, mediaUrl: string | undefined, mayDetect: boolean): string => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  const form = new URLSearchParams({
    To: to,
    From: from,
    Twiml: answerDocument(mediaUrl),
    StatusCallback: callbackUrl("status", callId) + RETRIES,
    StatusCallbackMethod: "POST"
  })
  for (const event of events) form.append("StatusCallbackEvent", event)
  form.set("Timeout", String(Math.min(Math.max(1, Math.ceil(ringTimeoutSeconds)), LONGEST_RING_SECONDS)))
  form.set("TimeLimit", String(Math.min(carrierLimitSeconds(maxDurationSeconds), LONGEST_CALL_SECONDS)))
  if (mayDetect && detect !== "no") {
    form.set("MachineDetection", detect === "who" ? "Enable" : "DetectMessageEnd")
    form.set("AsyncAmd", "true")
    form.set("AsyncAmdStatusCallback", callbackUrl("amd", callId) + RETRIES)
    form.set("AsyncAmdStatusCallbackMethod", "POST")
  }
  return form.toString()
}

/** TwiML. Nothing follows the stream, so the call ends when we close its socket. */
const answerDocument = (mediaUrl: string | undefined): string => {
  const answer =
    mediaUrl === undefined
      ? element("Pause", { length: String(SILENCE_SECONDS) })
      : element("Connect", {}, element("Stream", { url: mediaUrl }))
  return documentOf(element("Response", {}, answer))
}
