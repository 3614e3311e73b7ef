/** What Telnyx requires of a dial. Members that it does not document are refused, so that mistakes of the adapter show. */
import type { CarrierAnswer } from "#test/emulators/shared/CarrierServer.ts"
import { isObject, isWithin, type Json, jsonIn, strayIn } from "#test/emulators/shared/json.ts"
import { errorOf } from "./TelnyxErrors.ts"

export interface Dial {
  readonly connectionId: string
  readonly to: string
  readonly from: string
  readonly clientState: string
  readonly commandId: string | undefined
  /** The kind of machine detection; `disabled` for none. */
  readonly detection: string
  readonly timeoutSeconds: number
  readonly limitSeconds: number
  readonly webhookUrl: string
  /** How long after each failure an event of each kind is sent again. */
  readonly retryMillis: ReadonlyMap<string, ReadonlyArray<number>>
  /** Where the call's audio goes. */
  readonly streamUrl: string | undefined
}

const detections = new Set(["disabled", "detect", "detect_beep", "detect_words", "greeting_end", "premium"])

const documented =
  "answering_machine_detection answering_machine_detection_config client_state command_id connection_id custom_headers from from_display_name " +
  "link_to stream_bidirectional_codec stream_bidirectional_mode stream_codec stream_track stream_url time_limit_secs timeout_secs to " +
  "webhook_retries_policies webhook_url webhook_url_method"

const isE164 = (value: unknown): value is string => typeof value === "string" && /^\+[1-9]\d{6,14}$/.test(value)
const isBase64 = (value: string) => Buffer.from(value, "base64").toString("base64") === value

/** At most five retries of an event, within a minute. */
const isRetriesPolicy = (policy: unknown): policy is { readonly retries_ms: ReadonlyArray<number> } => {
  const delays = isObject(policy) ? policy["retries_ms"] : undefined
  if (!Array.isArray(delays) || delays.length > 5) return false
  return delays.every((delay) => isWithin(delay, 1, 60_000)) && delays.reduce((sum: number, delay: number) => sum + delay, 0) <= 60_000
}

/** What this emulator supports: mu-law in both directions. */
const isStream = (body: Json): body is { readonly stream_url: string } =>
  /^wss?:\/\/[^?#]+$/.test(String(body["stream_url"])) &&
  body["stream_track"] === "inbound_track" &&
  body["stream_bidirectional_mode"] === "rtp" &&
  body["stream_bidirectional_codec"] === "PCMU" &&
  body["stream_codec"] === "PCMU"

/** The members of a command, or the reply to one with others. */
const membersIn = (mediaType: string, text: string, documented: string): Json | CarrierAnswer => {
  const body = jsonIn(text)
  if (!/^application\/json\b/.test(mediaType) || !isObject(body)) return errorOf(400, "10015")
  const stray = strayIn(body, documented)
  return stray === undefined ? body : errorOf(422, "10015", `/${stray}`)
}
// No member is called `status`.
const isRefusal = (one: Json | CarrierAnswer): one is CarrierAnswer => typeof one["status"] === "number"

/** The dial, or the reply to an invalid request. */
export const readDial = (mediaType: string, text: string): Dial | CarrierAnswer => {
  const body = membersIn(mediaType, text, documented)
  if (isRefusal(body)) return body
  for (const name of ["connection_id", "to", "from"]) if (body[name] === undefined) return errorOf(422, "10004", `/${name}`)
  const { answering_machine_detection: detection = "disabled", client_state: clientState = "", command_id: commandId, from, to } = body
  const { connection_id: connectionId, time_limit_secs: limitSeconds = 14_400, timeout_secs: timeoutSeconds = 30 } = body
  const { webhook_retries_policies: policies = {}, webhook_url: webhookUrl, webhook_url_method: method = "POST" } = body
  if (!isE164(to)) return errorOf(422, "10016", "/to")
  if (to.startsWith("+999")) return errorOf(422, "10002", "/to")
  if (!isE164(from)) return errorOf(422, "10016", "/from")
  if (typeof connectionId !== "string") return errorOf(422, "10015", "/connection_id")
  if (typeof clientState !== "string" || !isBase64(clientState)) return errorOf(422, "10015", "/client_state")
  if (commandId !== undefined && typeof commandId !== "string") return errorOf(422, "10015", "/command_id")
  if (!isWithin(timeoutSeconds, 5, 600)) return errorOf(422, "10015", "/timeout_secs")
  if (!isWithin(limitSeconds, 30, 14_400)) return errorOf(422, "10015", "/time_limit_secs")
  if (typeof webhookUrl !== "string" || !/^https?:/.test(webhookUrl) || method !== "POST") return errorOf(422, "10015", "/webhook_url")
  if (!isObject(policies)) return errorOf(422, "10015", "/webhook_retries_policies")
  const retryMillis = new Map(Object.entries(policies).flatMap(([kind, one]) => (isRetriesPolicy(one) ? [[kind, one.retries_ms]] : [])))
  if (retryMillis.size < Object.keys(policies).length) return errorOf(422, "10015", "/webhook_retries_policies")
  if (typeof detection !== "string" || !detections.has(detection)) return errorOf(422, "10015", "/answering_machine_detection")
  const streamUrl = isStream(body) ? body.stream_url : undefined
  if (streamUrl === undefined && body["stream_url"] !== undefined) return errorOf(422, "10015", "/stream_url")
  return { connectionId, to, from, clientState, commandId, detection, timeoutSeconds, limitSeconds, webhookUrl, retryMillis, streamUrl }
}

const ofStreams = "client_state command_id stream_bidirectional_codec stream_bidirectional_mode stream_codec stream_track stream_url"

/** The address of the stream, or the reply to an invalid request. */
export const readStream = (text: string): string | CarrierAnswer => {
  const body = membersIn("application/json", text, ofStreams)
  if (isRefusal(body)) return body
  return isStream(body) ? body.stream_url : errorOf(422, "10015", "/stream_url")
}

const ofTransfers = "command_id from target_leg_client_state timeout_secs to webhook_retries_policies webhook_url webhook_url_method"

/** The leg of a transfer's destination, or the reply to an invalid request. */
export const readTransfer = ({ connectionId }: Dial, text: string): Dial | CarrierAnswer => {
  const body = membersIn("application/json", text, ofTransfers)
  if (isRefusal(body)) return body
  const { target_leg_client_state: client_state, ...dial } = body
  return readDial("application/json", JSON.stringify({ ...dial, client_state, connection_id: connectionId }))
}
