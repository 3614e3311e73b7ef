/**
 * Calls through one Call Control application. What becomes of them, Telnyx tells in webhooks (`TelnyxCallback.ts`). Nothing is remembered of a
 * call: every verb finds it by its `CallRef`.
 */
import { Effect } from "effect"
import { asOutcome, type HostedCarrier, openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest, Reply } from "#adapters/shared/HttpClient.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { allOf } from "#adapters/shared/pages.ts"
import type { Look, OriginateRequest, Presence, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { blockedBy, type SetupStep } from "#core/provider/Setup.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { publicKeyOf } from "./signature.ts"
import { fieldStep } from "#adapters/shared/setup.ts"
import { dialBodyOf } from "./TelnyxDial.ts"
import { activeCallsOf, lookOf, recordOf } from "./TelnyxRecord.ts"
import { isDone, isEndedAlready, isUnknown, listedIn, originated, statusOf, whatIsWrong } from "./TelnyxReply.ts"

export interface TelnyxConfig {
  readonly api_key: string
  readonly connection_id: string
  readonly webhook_public_key: string
}

interface Telnyx {
  readonly carrier: HostedCarrier
  readonly connectionId: string
  readonly mediaUrl: TrunkContext["mediaUrl"]
  readonly onEvent: TrunkContext["onEvent"]
}

/** Of calls, events or numbers. */
const PAGE_SIZE = "250"
const MOST_PAGES = 20

export const get = (path: string, query?: Readonly<Record<string, string>>): HttpRequest => ({
  method: "GET",
  path: `/v2${path}${query === undefined ? "" : `?${new URLSearchParams(query)}`}`
})
export const post = (path: string, body: object): HttpRequest => ({
  method: "POST",
  path: `/v2${path}`,
  body: { mediaType: "application/json", text: JSON.stringify(body) },
  waitHeader: "x-ratelimit-reset"
})
const callPath = (providerCallId: string): string => `/calls/${encodeURIComponent(providerCallId)}`

/** Without an application a key can still be tested, but no call be placed. */
const checkOf = (connectionId: string): HttpRequest =>
  connectionId === "" ? get("/phone_numbers", { "page[size]": "1" }) : get(`/call_control_applications/${encodeURIComponent(connectionId)}`)

/** What a call needs: an application that it is placed through, and a key, because nobody would hear of its answer without one. */
export const fieldSteps = ({ connection_id, webhook_public_key }: TelnyxConfig): ReadonlyArray<SetupStep> => [
  fieldStep(
    "application",
    "Call Control application",
    "A Call Control application is needed: enter its id as `connection_id`, or leave that empty and let the engine create one",
    connection_id !== ""
  ),
  fieldStep(
    "webhook_key",
    "Webhook public key",
    "`webhook_public_key` is needed, because webhooks are not believed without it",
    publicKeyOf(webhook_public_key) !== undefined
  )
]

export const accountOf = (config: TelnyxConfig) => ({
  provider: "telnyx",
  displayName: "Telnyx",
  origin: "https://api.telnyx.com",
  authorization: `Bearer ${config.api_key}`,
  check: { request: checkOf(config.connection_id), statusOf },
  lack: blockedBy(fieldSteps(config)),
  advice:
    "Copy an API v2 key from Telnyx' portal to `api_key`, and the id of a Call Control application of the same account to `connection_id`."
})

export const openTrunk = Effect.fnUntraced(function* (config: TelnyxConfig, context: TrunkContext) {
  const carrier = yield* openCarrier(accountOf(config), context)
  const telnyx: Telnyx = { carrier, connectionId: config.connection_id, mediaUrl: context.mediaUrl, onEvent: context.onEvent }
  return yield* trunkOf(accountOf(config), carrier, context, {
    detects: true,
    originate: (callbackUrl, request) => originate(telnyx, callbackUrl("event", request.callId), request),
    hangup: (call) => hangup(telnyx, call),
    lookup: (call) => lookup(telnyx, call),
    sendDtmf: (call, digits) => sendDtmf(telnyx, call, digits),
    numbers: numbers(carrier)
  })
})

const originate = Effect.fn("telnyx.originate")(function* (telnyx: Telnyx, webhookUrl: string, request: OriginateRequest) {
  const { carrier, connectionId, mediaUrl, onEvent } = telnyx
  const { callId, leave } = request
  const dial = post("/calls", dialBodyOf(connectionId, { webhookUrl, mediaUrl: mediaUrl?.(callId) }, request))
  const outcome = yield* asOutcome(
    carrier.http.place({ ...dial, leave: () => leave() }, (settled) => {
      // Even of a reply that comes too late for the originate.
      const named = originated(settled)
      if ("providerCallId" in named) onEvent(callId, { _tag: "Named", ...named })
    })
  )
  const result = originated(outcome)
  return "providerCallId" in result ? result : yield* result
})

/** Fails unless the reply is one that `isExpected` knows. */
const ask = ({ carrier }: Telnyx, operation: string, request: HttpRequest, isExpected: (reply: Reply) => boolean) =>
  Effect.filterOrFail(carrier.ask(operation, request), isExpected, (reply) => carrier.error(operation, whatIsWrong(reply)))

const command = (telnyx: Telnyx, operation: string, { providerCallId }: CallRef, action: string, body: object, isExpected = isDone) =>
  providerCallId === undefined
    ? Effect.fail(telnyx.carrier.error(operation, "Telnyx' id of the call is not known yet"))
    : Effect.asVoid(ask(telnyx, operation, post(`${callPath(providerCallId)}/actions/${action}`, body), isExpected))

/** Without a `command_id`, so that a second hang-up is not ignored. A 404 is no success: the call may belong to another account. */
const hangup = (telnyx: Telnyx, call: CallRef) =>
  command(telnyx, "hangup", call, "hangup", {}, (reply) => isDone(reply) || isEndedAlready(reply))

const sendDtmf = (telnyx: Telnyx, call: CallRef, digits: string) =>
  /^[0-9*#A-D]{1,64}$/.test(digits)
    ? command(telnyx, "sendDtmf", call, "send_dtmf", { digits })
    : Effect.fail(telnyx.carrier.error("sendDtmf", "not DTMF digits"))

const numbers = (carrier: HostedCarrier) => {
  const next = (_: number, pages: number) => get("/phone_numbers", { "page[size]": PAGE_SIZE, "page[number]": String(pages + 1) })
  const listed = allOf(carrier, "numbers", { describe: whatIsWrong, next, read: listedIn })
  return Effect.map(listed, (entries) => entries.flatMap((entry) => textAt(entry, "phone_number") ?? []))
}

const isOk = ({ status }: Reply): boolean => status === 200

const seen = (presence: Presence, told: ReadonlyArray<TrunkEvent> = []): Look => ({ presence, told })

const lookup = Effect.fn("telnyx.lookup")(function* (telnyx: Telnyx, call: CallRef) {
  const { error } = telnyx.carrier
  const providerCallId = call.providerCallId ?? (yield* find(telnyx, call))
  if (providerCallId === undefined) return seen("gone")
  // Its webhooks tell the rest.
  const told: ReadonlyArray<TrunkEvent> = call.providerCallId === undefined ? [{ _tag: "Named", providerCallId }] : []
  const reply = yield* ask(telnyx, "lookup", get(callPath(providerCallId)), (reply) => isOk(reply) || isUnknown(reply))
  if (isUnknown(reply)) return seen("gone", told)
  const record = recordOf(reply.body, providerCallId)
  if (record === undefined) return yield* error("lookup", "not the call's record")
  const query = { "filter[leg_id]": record.legId, "filter[type]": "webhook", "page[size]": PAGE_SIZE }
  const events = yield* ask(telnyx, "lookup", get("/call_events", query), isOk)
  const look = lookOf(record, events.body) ?? (yield* error("lookup", "not a list of events"))
  return seen(look.presence, [...told, ...look.told])
})

/** Looks for a call whose id we have never been told among the live calls. It can still appear later. */
const find = Effect.fnUntraced(function* (telnyx: Telnyx, { callId }: CallRef) {
  const path = `/connections/${encodeURIComponent(telnyx.connectionId)}/active_calls`
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { "page[limit]": PAGE_SIZE, ...(after === undefined ? {} : { "page[after]": after }) }
    const calls = activeCallsOf((yield* ask(telnyx, "lookup", get(path, query), isOk)).body, callId)
    if (calls === undefined) return yield* telnyx.carrier.error("lookup", "not a list of live calls")
    const { found } = calls
    if (found !== undefined || calls.after === undefined) return found
    after = calls.after
  }
  return yield* telnyx.carrier.error("lookup", "too many live calls")
})
