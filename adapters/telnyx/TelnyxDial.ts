/** The request that places a call, and the mark by which everything that Telnyx says about the call is recognized. */
import { Schema } from "effect"
import { carrierLimitSeconds } from "#adapters/shared/originated.ts"
import { CallId } from "#core/Id.ts"
import type { OriginateRequest } from "#core/provider/Adapter.ts"

/** Limits of `timeout_secs`. */
export const RING_SECONDS = { least: 5, most: 600 }

/** When an event that we did not take is sent again: the most that Telnyx allows, 5 times within 60 s. */
const retries = { retries_ms: [1_000, 3_000, 8_000, 15_000, 30_000] }

/** Our id of the call, which Telnyx returns with each event. */
export const clientStateOf = (callId: CallId): string => Buffer.from(callId).toString("base64")

const isCallId = Schema.is(CallId)

export const callIdIn = (clientState: string | undefined): CallId | undefined => {
  const text = Buffer.from(clientState ?? "", "base64").toString()
  return isCallId(text) && clientStateOf(text) === clientState ? text : undefined
}

/** Telnyx ends no call later than this. */
export const LONGEST_CALL_SECONDS = 14_400

const detectionFor = ({ detect }: OriginateRequest) =>
  detect === "no" ? {} : { answering_machine_detection: detect === "who" ? "detect" : "greeting_end" }

interface Addresses {
  readonly webhookUrl: string
  /** Undefined: the call has no audio. */
  readonly mediaUrl: string | undefined
}

export const dialBodyOf = (connectionId: string, { mediaUrl, webhookUrl }: Addresses, request: OriginateRequest) => ({
  connection_id: connectionId,
  to: request.to,
  from: request.from,
  client_state: clientStateOf(request.callId),
  // A second request with this id is ignored, whoever sends it.
  command_id: request.callId,
  timeout_secs: Math.min(Math.max(Math.ceil(request.ringTimeoutSeconds), RING_SECONDS.least), RING_SECONDS.most),
  time_limit_secs: Math.min(carrierLimitSeconds(request.maxDurationSeconds), LONGEST_CALL_SECONDS),
  ...detectionFor(request),
  webhook_url: webhookUrl,
  webhook_url_method: "POST",
  webhook_retries_policies: { "call.initiated": retries, "call.answered": retries, "call.hangup": retries },
  ...(mediaUrl === undefined ? {} : streamOf(mediaUrl))
})

/**
 * Both ways in mu-law, whatever the leg speaks. Despite its name, the mode sends no RTP headers.
 * https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming
 */
const streamOf = (mediaUrl: string) => ({
  stream_url: mediaUrl,
  stream_track: "inbound_track",
  stream_codec: "PCMU",
  stream_bidirectional_mode: "rtp",
  stream_bidirectional_codec: "PCMU"
})
