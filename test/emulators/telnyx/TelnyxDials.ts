/** What Telnyx requires of a dial. */
import Type, { type Static } from "typebox"
import type { CarrierAnswer } from "#test/emulators/shared/CarrierServer.ts"
import { closed, isObject, jsonIn, membersIn } from "#test/emulators/shared/json.ts"
import { errorOf } from "./TelnyxErrors.ts"

const e164 = Type.String({ pattern: "^\\+[1-9]\\d{6,14}$" })
/** At most five retries of an event. */
const Retries = Type.Object({ retries_ms: Type.Array(Type.Integer({ minimum: 1, maximum: 60_000 }), { maxItems: 5 }) })
const leg = {
  from: e164,
  to: e164,
  command_id: Type.Optional(Type.String()),
  timeout_secs: Type.Optional(Type.Integer({ minimum: 5, maximum: 600 })),
  webhook_retries_policies: Type.Optional(Type.Record(Type.String(), Retries)),
  webhook_url: Type.String({ pattern: "^https?:" }),
  webhook_url_method: Type.Optional(Type.Literal("POST"))
}
const base64 = Type.String({ pattern: "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$" })
const dial = {
  ...leg,
  answering_machine_detection: Type.Optional(Type.Enum(["disabled", "detect", "detect_beep", "detect_words", "greeting_end", "premium"])),
  client_state: Type.Optional(base64),
  connection_id: Type.String(),
  time_limit_secs: Type.Optional(Type.Integer({ minimum: 30, maximum: 14_400 }))
}
/** What this emulator supports: mu-law in both directions. */
const stream = {
  stream_bidirectional_codec: Type.Literal("PCMU"),
  stream_bidirectional_mode: Type.Literal("rtp"),
  stream_codec: Type.Literal("PCMU"),
  stream_track: Type.Literal("inbound_track"),
  stream_url: Type.String({ pattern: "^wss?://[^?#]+$" })
}
const Plain = Type.Object(dial, closed)
const Streaming = Type.Object({ ...dial, ...stream }, closed)
const Transfer = Type.Object({ ...leg, target_leg_client_state: base64 }, closed)
const Stream = Type.Object({ ...stream, command_id: Type.Optional(Type.String()) }, closed)

/** The leg that is dialed. `streamUrl`: where the audio goes. */
export type Dial = Static<typeof Plain> & { readonly streamUrl: string | undefined }

const json = "application/json"
const refusalOf = ({ at, isMissing }: { readonly at: string; readonly isMissing: boolean }): CarrierAnswer =>
  errorOf(422, isMissing ? "10004" : at === "/to" || at === "/from" ? "10016" : "10015", at)

/** What Telnyx refuses in members that are well-formed: an invalid number, and retries that take longer than a minute. */
const refusalIn = ({ to, webhook_retries_policies: policies = {} }: Pick<Dial, "to" | "webhook_retries_policies">) => {
  if (to.startsWith("+999")) return errorOf(422, "10002", "/to")
  const isLong = Object.values(policies).some(({ retries_ms: delays }) => delays.reduce((sum, delay) => sum + delay, 0) > 60_000)
  return isLong ? errorOf(422, "10015", "/webhook_retries_policies") : undefined
}

/** The dial, or the reply to an invalid request. */
export const readDial = (mediaType: string, text: string): Dial | CarrierAnswer => {
  const body = jsonIn(text)
  const url = isObject(body) ? body["stream_url"] : undefined
  const { fault, members } = membersIn(url === undefined ? Plain : Streaming, mediaType, text)
  if (fault !== undefined) return refusalOf(fault)
  return refusalIn(members) ?? { ...members, streamUrl: url === undefined ? undefined : String(url) }
}

/** The address of the stream, or the reply to an invalid request. */
export const readStream = (text: string): string | CarrierAnswer => {
  const { fault, members } = membersIn(Stream, json, text)
  return fault === undefined ? members.stream_url : refusalOf(fault)
}

/** The leg of a transfer's destination, or the reply to an invalid request. */
export const readTransfer = ({ connection_id }: Dial, text: string): Dial | CarrierAnswer => {
  const { fault, members } = membersIn(Transfer, json, text)
  if (fault !== undefined) return refusalOf(fault)
  const { target_leg_client_state: client_state, ...leg } = members
  return refusalIn(leg) ?? { ...leg, client_state, connection_id, streamUrl: undefined }
}
