/** Calls through one Call Control application. Telnyx reports their progress in webhooks (`TelnyxCallback.ts`). */
import { Effect } from "effect"
import type { CallDialParams } from "telnyx/resources/calls/calls"
import type { HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { type Addresses, openTrunk } from "#adapters/shared/hostedTrunk.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { allOf } from "#adapters/shared/pages.ts"
import { numbersOf } from "#adapters/shared/phoneNumbers.ts"
import { durationWithin, get, secondsWithin, send } from "#adapters/shared/requests.ts"
import type { OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"
import { type CallRef, isProviderCallId } from "#core/provider/CallRef.ts"
import { listOf, PAGE_SIZE, type TelnyxConfig } from "./TelnyxAccount.ts"
import { activeCallsIn, clientStateOf, isOf, lookOf, recordOf } from "./TelnyxCallback.ts"
import { retries } from "./telnyxCodes.ts"
import { isDone, isEndedAlready } from "./TelnyxReplies.ts"

/** Limits of `timeout_secs` and `time_limit_secs`. */
export const RING_SECONDS = { least: 5, most: 600 }
export const CALL_SECONDS = { least: 30, most: 14_400 }

export const connect = (carrier: HostedCarrier, { connection_id }: TelnyxConfig, context: TrunkContext) =>
  openTrunk(carrier, context, {
    detects: true,
    isId: isProviderCallId,
    order: (request, addresses) => post("/v2/calls", orderOf(connection_id, request, addresses)),
    // Without a `command_id`, so that a second hang-up is not ignored. A 404 is not a success: the call may belong to another account.
    hangup: (id) => carrier.ask("hangup", command(id, "hangup", {}), (reply) => isDone(reply) || isEndedAlready(reply)),
    look: (id) => look(carrier, id),
    reopenMedia: (id, mediaUrl) => carrier.ask("reopenMedia", command(id, "streaming_start", streamOf(mediaUrl)), isDone),
    find: (call) => find(carrier, connection_id, call),
    transfer: {
      order: ({ callId, id }, { from, timeoutSeconds, to, transfer }, webhook_url) => {
        const names = { command_id: `${callId}/${transfer}`, target_leg_client_state: clientStateOf(callId) }
        const hook = { webhook_url, webhook_retries_policies: { "call.answered": retries, "call.hangup": retries } }
        return command(id, "transfer", { ...names, ...hook, to, from, timeout_secs: secondsWithin(timeoutSeconds, RING_SECONDS) })
      },
      isTaken: isDone
    },
    sendDtmf: {
      digits: /^[0-9*#A-D]{1,64}$/,
      send: (id, digits) => carrier.ask("sendDtmf", command(id, "send_dtmf", { digits }), isDone)
    },
    numbers: numbersOf(listOf(carrier, "numbers", "/v2/phone_numbers"), (entry) => textAt(entry, "phone_number"))
  })

const post = (path: string, body: object) => ({ ...send("POST", path, body), waitHeader: "x-ratelimit-reset" })
const callPath = (id: string): string => `/v2/calls/${encodeURIComponent(id)}`
const command = (id: string, action: string, body: object) => post(`${callPath(id)}/actions/${action}`, body)

export const orderOf = (connectionId: string, request: OriginateRequest, { callbackUrl, mediaUrl }: Addresses): CallDialParams => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  return {
    connection_id: connectionId,
    to,
    from,
    client_state: clientStateOf(callId),
    // A second request with this id is ignored, whoever sends it.
    command_id: callId,
    timeout_secs: secondsWithin(ringTimeoutSeconds, RING_SECONDS),
    time_limit_secs: durationWithin(maxDurationSeconds, CALL_SECONDS),
    ...(detect === "no" ? {} : { answering_machine_detection: detect === "who" ? "detect" : "greeting_end" }),
    webhook_url: callbackUrl("event", callId),
    webhook_url_method: "POST",
    webhook_retries_policies: { "call.initiated": retries, "call.answered": retries, "call.hangup": retries },
    ...(mediaUrl === undefined ? {} : streamOf(mediaUrl))
  }
}

/** Mu-law both ways; despite its name, the mode sends no RTP. https://developers.telnyx.com/docs/voice/programmable-voice/media-streaming */
const streamOf = (mediaUrl: string): Partial<CallDialParams> => ({
  stream_url: mediaUrl,
  stream_track: "inbound_track",
  stream_codec: "PCMU",
  stream_bidirectional_mode: "rtp",
  stream_bidirectional_codec: "PCMU"
})

const look = Effect.fnUntraced(function* (carrier: HostedCarrier, id: string) {
  const record = yield* carrier.fetch("lookup", get(callPath(id)), (body) => recordOf(body, id))
  if (record === undefined) return undefined
  const query = { "filter[leg_id]": record.legId, "filter[type]": "webhook", "page[size]": PAGE_SIZE }
  const found = yield* carrier.fetch("lookup", get("/v2/call_events", query), (body) => lookOf(record, body))
  return found ?? (yield* carrier.error("lookup", "no events of the call"))
})

/** Searches the live calls for our own id. */
const find = Effect.fnUntraced(function* (carrier: HostedCarrier, connectionId: string, { callId }: CallRef) {
  const path = `/v2/connections/${encodeURIComponent(connectionId)}/active_calls`
  const read = (body: unknown) => activeCallsIn(body, callId)
  const next = (cursor: string | undefined) => get(path, { "page[limit]": PAGE_SIZE, "page[after]": cursor })
  const calls = yield* allOf(carrier, "lookup", ({ cursor }) => next(cursor), read)
  const ours = calls.find((record) => isOf(callId, record))
  const providerCallId = textAt(ours, "call_control_id")
  return isProviderCallId(providerCallId) ? { providerCallId, look: yield* look(carrier, providerCallId) } : undefined
})
