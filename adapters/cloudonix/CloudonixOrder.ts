/** The request for a call. https://developers.cloudonix.com/Documentation/apiWorkflow/callControlAndSessionManagement */
import { carrierLimitSeconds } from "#adapters/shared/originated.ts"
import { documentOf, element } from "#adapters/shared/xml.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"

/** Without audio to connect to, the line stays open for the engine to end the call, but not for longer than this. */
const SILENCE_SECONDS = 60

/** Nothing is sent that Cloudonix does not document. `mediaUrl`: where the call's audio is served; undefined: nowhere. */
export const orderOf = (request: OriginateRequest, callbackUrl: string, mediaUrl: string | undefined) => {
  const { from, maxDurationSeconds, ringTimeoutSeconds, to } = request
  return {
    destination: to,
    "caller-id": from,
    cxml: answerDocument(mediaUrl),
    callback: callbackUrl,
    timeout: Math.max(1, Math.ceil(ringTimeoutSeconds)),
    // Whether it counts from the answer on is not documented.
    timeLimit: carrierLimitSeconds(ringTimeoutSeconds + maxDurationSeconds)
  }
}

/** CXML, executed when the callee answers. Nothing follows the stream, so the call ends when we close its socket. */
const answerDocument = (mediaUrl: string | undefined): string => {
  const answer =
    mediaUrl === undefined
      ? element("Pause", { length: String(SILENCE_SECONDS) })
      : element("Connect", {}, element("Stream", { url: mediaUrl }))
  return documentOf(element("Response", {}, answer))
}
