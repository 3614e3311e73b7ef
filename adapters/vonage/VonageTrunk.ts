/** Calls through one application of Vonage's Voice API. Vonage reports their progress in webhooks (`VonageCallback.ts`). */
import { Effect } from "effect"
import { type HostedCarrier, openCarrier } from "#adapters/shared/HostedCarrier.ts"
import { type Addresses, openTrunk } from "#adapters/shared/hostedTrunk.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import { dialTo, streamTo } from "#adapters/shared/ncco.ts"
import { allOf } from "#adapters/shared/pages.ts"
import { areNumbersOf, digitsOf, numbersOf } from "#adapters/shared/phoneNumbers.ts"
import { isErrorOf, isSuccess } from "#adapters/shared/replies.ts"
import { durationWithin, get, secondsWithin, send } from "#adapters/shared/requests.ts"
import { findIn, sinceOf } from "#adapters/shared/theOneOf.ts"
import type { OriginateRequest, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { type VonageConfig, withSecret } from "./VonageAccount.ts"
import { lookOf } from "./VonageCallback.ts"
import { BEEP_SECONDS, CALL_SECONDS, PAGE_SIZE, RING_SECONDS } from "./vonageCodes.ts"
import { callsIn, isUuid, numbersIn, replies, uuidIn } from "./VonageReplies.ts"

export const connect = Effect.fnUntraced(function* (carrier: HostedCarrier, config: VonageConfig, context: TrunkContext) {
  const numbers = yield* openCarrier({ ...withSecret(carrier, config), origin: "https://rest.nexmo.com" }, context)
  return yield* openTrunk(carrier, context, {
    detects: true,
    isId: isUuid,
    order: (request, addresses) => send("POST", "/v1/calls", orderOf(request, addresses)),
    hangup: (uuid) => hangup(carrier, uuid),
    look: (uuid) => look(carrier, uuid),
    find: (call) => find(carrier, call),
    transfer: {
      order: ({ id }, { from: shown = "", timeoutSeconds: seconds, to: number }, address) => {
        const ncco = dialTo({ next: address, number, shown, timeoutSeconds: secondsWithin(seconds, RING_SECONDS) })
        return send("PUT", callPath(id), { action: "transfer", destination: { type: "ncco", ncco } })
      },
      isTaken: ({ status }) => status === 204
    },
    sendDtmf: { digits: /^[0-9*#]{1,64}$/, send: (uuid, digits) => sendDtmf(carrier, uuid, digits) },
    numbers: listNumbers(numbers)
  })
})

const callPath = (uuid: string): string => `/v1/calls/${encodeURIComponent(uuid)}`

/** https://developer.vonage.com/en/api/voice#createCall */
export const orderOf = (request: OriginateRequest, { callbackUrl, mediaUrl }: Addresses) => {
  const { callId, detect, from = "", maxDurationSeconds, ringTimeoutSeconds, to } = request
  const event_url = [callbackUrl("event", callId)]
  // Without audio, a conversation with one participant keeps the line open until the engine ends it.
  const ncco = mediaUrl === undefined ? [{ action: "conversation", name: callId }] : streamTo(mediaUrl, from, { eventUrl: event_url })
  const untilBeep = { behavior: "continue", mode: "detect_beep", beep_timeout: BEEP_SECONDS }
  return {
    to: [{ type: "phone", number: digitsOf(to) }],
    from: { type: "phone", number: digitsOf(from) },
    ncco,
    event_url,
    event_method: "POST",
    ringing_timer: secondsWithin(ringTimeoutSeconds, RING_SECONDS),
    length_timer: durationWithin(maxDurationSeconds, CALL_SECONDS),
    ...(detect === "who" ? { machine_detection: "continue" } : {}),
    ...(detect === "greetingEnd" ? { advanced_machine_detection: untilBeep } : {})
  }
}

/** Vonage refuses it with 400 or 404 for a call that has ended, and for one that it does not have. */
const hangup = Effect.fnUntraced(function* (carrier: HostedCarrier, uuid: string) {
  const request = send("PUT", callPath(uuid), { action: "hangup" })
  const reply = yield* carrier.ask("hangup", request, (reply) => reply.status === 204 || isErrorOf(replies, reply, 400, 404))
  if (reply.status === 204) return
  const found = yield* look(carrier, uuid, "hangup")
  if (found !== undefined && found.presence !== "ended") return yield* carrier.error("hangup", `HTTP ${reply.status}, but the call goes on`)
})

const look = (carrier: HostedCarrier, uuid: string, operation = "lookup") =>
  carrier.fetch(operation, get(callPath(uuid)), (record) => (uuidIn(record) === uuid ? lookOf(record) : undefined))

/** https://developer.vonage.com/en/api/voice#getCalls */
const find = (carrier: HostedCarrier, call: CallRef) => {
  const query = { date_start: new Date(sinceOf(call)).toISOString(), page_size: PAGE_SIZE }
  const calls = allOf(carrier, "lookup", ({ entries }) => get("/v1/calls", { ...query, record_index: entries }), callsIn)
  return findIn(carrier, call, calls, (record) => (isOf(call, record) ? uuidIn(record) : undefined), lookOf)
}

const isOf = (call: CallRef, record: unknown): boolean =>
  textAt(record, "direction") === "outbound" && areNumbersOf(call, textAt(record, "to", "number"), textAt(record, "from", "number"))

const sendDtmf = (carrier: HostedCarrier, uuid: string, digits: string) =>
  carrier.ask("sendDtmf", send("PUT", `${callPath(uuid)}/dtmf`, { digits }), (reply) => isSuccess(reply) && uuidIn(reply.body) === uuid)

/** The account's numbers that can place calls. */
const listNumbers = (carrier: HostedCarrier) => {
  const isVoice = (entry: unknown) => [at(entry, "features")].flat().includes("VOICE")
  const entries = allOf(carrier, "numbers", ({ pages }) => get("/account/numbers", { size: PAGE_SIZE, index: pages + 1 }), numbersIn)
  return numbersOf(entries, (entry) => (isVoice(entry) ? textAt(entry, "msisdn") : undefined))
}
