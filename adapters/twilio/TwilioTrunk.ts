/** Calls through Twilio's REST interface. Twilio reports their progress in callbacks (`TwilioCallback.ts`). */
import { Effect } from "effect"
import type { HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { type Addresses, openTrunk } from "#adapters/shared/hostedTrunk.ts"
import type { HttpRequest, Reply } from "#adapters/shared/HttpClient.ts"
import { at, textAt, timeIn } from "#adapters/shared/Json.ts"
import { areNumbersOf } from "#adapters/shared/phoneNumbers.ts"
import { isSuccess } from "#adapters/shared/replies.ts"
import { durationWithin, get, secondsWithin } from "#adapters/shared/requests.ts"
import { calleeOf, isOfItsTime, sinceOf, theOneOf } from "#adapters/shared/theOneOf.ts"
import { streamTo } from "#adapters/shared/twiml.ts"
import { transferDocument } from "#adapters/shared/twimlTransfer.ts"
import { isAlive, type OriginateRequest, type TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { pathIn, type TwilioConfig } from "./TwilioAccount.ts"
import { lookOf } from "./TwilioCallback.ts"
import { isCallSid, isOutOfState, replies, shows, sidIn } from "./TwilioReplies.ts"

/** The events requested from Twilio; `completed` covers every end. */
const events = ["initiated", "ringing", "answered", "completed"]
/**
 * Requests every retry that Twilio offers. Only Twilio reads the fragment: it is neither sent nor signed.
 * https://www.twilio.com/docs/usage/webhooks/webhooks-connection-overrides
 */
const RETRIES = "#rc=5&rp=all"
export const RING_SECONDS = { least: 1, most: 600 }
export const CALL_SECONDS = { least: 1, most: 86_400 }

interface Twilio {
  readonly carrier: HostedCarrier
  readonly config: TwilioConfig
}

export const connect = (carrier: HostedCarrier, config: TwilioConfig, context: TrunkContext) => {
  const twilio: Twilio = { carrier, config }
  return openTrunk(carrier, context, {
    detects: config.amd_enabled,
    isId: isCallSid,
    order: (request, addresses) => post(config, "/Calls", formOf(request, addresses, config.amd_enabled)),
    hangup: (sid) => hangup(twilio, sid),
    look: (sid) => look(twilio, sid),
    find: (call) => find(twilio, call),
    transfer: {
      order: ({ id }, request, address) =>
        post(config, callPath(id), new URLSearchParams({ Twiml: transferDocument(request, address, address + RETRIES) })),
      isTaken: shows
    }
  })
}

const post = (config: TwilioConfig, path: string, form: URLSearchParams): HttpRequest => ({
  method: "POST",
  path: pathIn(config, path),
  body: { mediaType: "application/x-www-form-urlencoded", text: form.toString() }
})
const callPath = (sid: string): string => `/Calls/${encodeURIComponent(sid)}`

/** https://www.twilio.com/docs/voice/api/call-resource#create-a-call */
export const formOf = (request: OriginateRequest, { callbackUrl, mediaUrl }: Addresses, mayDetect: boolean): URLSearchParams => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  const form = new URLSearchParams({
    To: to,
    From: from,
    Twiml: streamTo(mediaUrl),
    StatusCallback: callbackUrl("status", callId) + RETRIES,
    StatusCallbackMethod: "POST"
  })
  for (const event of events) form.append("StatusCallbackEvent", event)
  form.set("Timeout", String(secondsWithin(ringTimeoutSeconds, RING_SECONDS)))
  form.set("TimeLimit", String(durationWithin(maxDurationSeconds, CALL_SECONDS)))
  if (mayDetect && detect !== "no") {
    form.set("MachineDetection", detect === "who" ? "Enable" : "DetectMessageEnd")
    form.set("AsyncAmd", "true")
    form.set("AsyncAmdStatusCallback", callbackUrl("amd", callId) + RETRIES)
    form.set("AsyncAmdStatusCallbackMethod", "POST")
  }
  return form
}

const hangup = Effect.fnUntraced(function* (twilio: Twilio, sid: string) {
  const { carrier, config } = twilio
  const end = (status: string) => post(config, callPath(sid), new URLSearchParams({ Status: status }))
  const isKnown = (reply: Reply) => shows(reply, sid) || isOutOfState(reply) || replies.isMissing(reply)
  const completed = yield* carrier.ask("hangup", end("completed"), isKnown)
  if (replies.isMissing(completed) || (shows(completed, sid) && !isWaiting(completed.body))) return
  const found = yield* look(twilio, sid, "hangup")
  if (found === undefined || !isAlive(found.presence)) return
  yield* carrier.ask("hangup", end("canceled"), (reply) => shows(reply, sid))
})

/** A waiting call can only be canceled. */
const isWaiting = (record: unknown): boolean => ["queued", "ringing"].includes(lookOf(record)?.presence ?? "")

const look = ({ carrier, config }: Twilio, sid: string, operation = "lookup") =>
  carrier.fetch(operation, get(pathIn(config, callPath(sid))), (record) => (sidIn(record) === sid ? lookOf(record) : undefined))

/** https://www.twilio.com/docs/voice/api/call-resource#read-multiple-call-resources */
const find = Effect.fnUntraced(function* ({ carrier, config }: Twilio, call: CallRef) {
  const To = yield* calleeOf(carrier, call)
  const records: Array<unknown> = []
  // A call in the queue has no start time, and is listed by its status. If it leaves the queue in between, it is in the second list.
  for (const filter of [{ Status: "queued" }, { "StartTime>": new Date(sinceOf(call)).toISOString().slice(0, 10) }]) {
    const { body } = yield* carrier.ask("lookup", get(pathIn(config, "/Calls"), { To, ...filter, PageSize: "100" }), isSuccess)
    const calls = at(body, "calls")
    if (!Array.isArray(calls) || textAt(body, "next_page_uri") !== undefined)
      return yield* carrier.error("lookup", "not the whole list of calls to this number")
    records.push(...calls)
  }
  const found = yield* theOneOf(carrier, call, records, (record) => (isOf(call, record) ? sidIn(record) : undefined))
  return found && { ...found, look: lookOf(found.record) }
})

const isOf = (call: CallRef, record: unknown): boolean =>
  textAt(record, "direction") === "outbound-api" &&
  areNumbersOf(call, textAt(record, "to"), textAt(record, "from")) &&
  isOfItsTime(call, timeIn(textAt(record, "date_created")))
