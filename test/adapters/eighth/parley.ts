/**
 * Parley, an invented carrier: a whole adapter of a hosted carrier as an outside author would write it. Calls are placed over REST and
 * followed through signed callbacks; Parley opens a websocket for the audio of each.
 */
import type { Look, OriginateRequest, Presence, TrunkContext } from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead, CarrierRequest } from "#core/provider/Callback.ts"
import { isProviderCallId } from "#core/provider/CallRef.ts"
import * as Credential from "#core/provider/Credential.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { fromSip } from "#core/outcome/HangupCause.ts"
import { billOf, eventsFor, hungUp } from "#adapters/shared/callEvents.ts"
import { isRecent, type Proof } from "#adapters/shared/CarrierRequest.ts"
import { hmac, isSameText } from "#adapters/shared/hmac.ts"
import { defineHostedAdapter } from "#adapters/shared/hostedAdapter.ts"
import type { Account, HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { type Addresses, openTrunk } from "#adapters/shared/hostedTrunk.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, parseBytes, textAt } from "#adapters/shared/Json.ts"
import { type JsonDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import type { CarrierReplies, Refusal } from "#adapters/shared/replies.ts"
import { bearer, durationWithin, get, secondsWithin, send } from "#adapters/shared/requests.ts"
import { declined, joined, transferIn } from "#adapters/shared/transfers.ts"

/** Parley's code of an error. */
const codeIn = ({ body }: Reply): string | undefined => textAt(body, "error", "code")

/** Only Parley's own errors are proof; a proxy on the way can produce any status. */
const refusals: Readonly<Record<string, Refusal>> = {
  "401 bad_token": { reason: "auth_refused" },
  "402 no_balance": { reason: "no_credit" },
  "422 bad_from": { reason: "caller_id_refused" },
  "422 bad_to": { reason: "number_refused", cause: "invalid_number_format" },
  "429 slow_down": { reason: "rate_limited", retryAfterMillis: 2_000 }
}

const replies: CarrierReplies = {
  errorIn: codeIn,
  isMissing: (reply) => reply.status === 404 && codeIn(reply) === "no_call",
  placedIn: (body) => idIn(body),
  refusalIn: (reply) => refusals[`${reply.status} ${codeIn(reply)}`]
}

const idIn = (call: unknown): string | undefined => {
  const id = at(call, "call")
  return isProviderCallId(id) ? id : undefined
}

const presences: Readonly<Record<string, Presence>> = { dialing: "ringing", ringing: "ringing", talking: "up", over: "ended" }

const causeOf = (call: unknown) => {
  const by = textAt(call, "endedBy")
  if (by === "timeout") return at(call, "answeredAt") === undefined ? "ring_timeout" : "duration_exceeded"
  if (by === "caller") return at(call, "answeredAt") === undefined ? "originator_cancel" : "agent_hangup"
  return fromSip(numberAt(call, "sip") ?? 200)
}

const eventsOf = (call: unknown): ReadonlyArray<TrunkEvent> => {
  const [state, answeredAt, overAt] = [textAt(call, "state"), numberAt(call, "answeredAt"), numberAt(call, "overAt")]
  const [who, amount, currency] = [textAt(call, "heard"), textAt(call, "price", "amount"), textAt(call, "price", "currency")]
  return [
    ...(state === "ringing" ? [{ _tag: "Rang" } as const] : []),
    ...(answeredAt === undefined ? [] : [{ _tag: "Answered", at: answeredAt } as const]),
    ...(who === "machine" || who === "person" ? [{ _tag: "Detected", who: who === "person" ? "human" : who } as const] : []),
    ...(state === "over" && overAt !== undefined ? [hungUp(causeOf(call), overAt)] : []),
    ...billOf(amount, currency)
  ]
}

const dialedOf = (transfer: number, dialed: unknown): TrunkEvent =>
  textAt(dialed, "state") === "talking" ? joined(transfer) : declined(transfer, causeOf(dialed))

/** HMAC-SHA256 over the time, the address and the body. */
const proofOf = (request: CarrierRequest, key: string): Proof | undefined => {
  const { body, headers, url } = request
  const [, time, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(headers["parley-signature"] ?? "") ?? []
  if (time === undefined || !isRecent(request, Number(time))) return undefined
  const expected = hmac("sha256", key, `${time}.${url}.${Buffer.from(body)}`).toString("hex")
  return isSameText(signature, expected) ? { coversBody: true, nonce: undefined } : undefined
}

const read = ({ body, call, kind }: Callback): CallbackRead => {
  const told = parseBytes(body)
  const [event, id, known] = [textAt(told, "event"), idIn(at(told, "call")), call?.providerCallId]
  const transfer = transferIn(kind)
  // It is not about a call, or about another call than that of the address.
  if (event === undefined || id === undefined || (known ?? id) !== id) return { events: [] }
  if (transfer !== undefined) return { deliveryId: event, events: [{ event: dialedOf(transfer, at(told, "transfer")) }] }
  return { deliveryId: event, events: eventsFor(call, id, eventsOf(at(told, "call"))) }
}

const lookOf = (call: unknown): Look | undefined => {
  const presence = presences[textAt(call, "state") ?? ""]
  return presence === undefined || idIn(call) === undefined ? undefined : { presence, told: eventsOf(call) }
}

const pathOf = (id: string): string => `/v1/calls/${encodeURIComponent(id)}`

const orderOf = (request: OriginateRequest, { callbackUrl, mediaUrl }: Addresses) => ({
  from: request.from,
  hook: callbackUrl("call", request.callId),
  listens: request.detect !== "no",
  maxSeconds: durationWithin(request.maxDurationSeconds, limits),
  reference: request.callId,
  ringSeconds: secondsWithin(request.ringTimeoutSeconds, limits),
  stream: mediaUrl,
  to: request.to
})
const limits = { least: 1, most: 86_400 }

const isTaken = (reply: Reply, id: string): boolean => reply.status === 202 && idIn(reply.body) === id

const account = ({ token }: { readonly token: string }): Account => ({
  origin: "https://api.parley.example",
  authorization: bearer(token),
  replies,
  check: { request: get("/v1/account"), isShownBy: (body) => textAt(body, "account") !== undefined, refusedWith: [401] },
  advice: "Copy `token` and `signing_key` from Parley's console."
})

const words: JsonDialect = {
  streamIdIn: (start) => textAt(start, "stream"),
  audio: (stream, payload) => ({ event: "media", stream, media: { payload } }),
  clear: (stream) => ({ event: "hush", stream }),
  mark: (stream, id) => ({ event: "mark", stream, id }),
  played: { event: "mark", idIn: (message) => textAt(message, "id") }
}

const connect = (carrier: HostedCarrier, _: unknown, context: TrunkContext) => {
  const command = (id: string, verb: "hangup" | "keys", body: object) => {
    const isDone = (reply: Reply) => isTaken(reply, id) || codeIn(reply) === "over"
    return carrier.ask(verb, send("POST", `${pathOf(id)}/${verb}`, body), isDone)
  }
  return openTrunk(carrier, context, {
    isId: isProviderCallId,
    order: (request, addresses) => send("POST", "/v1/calls", orderOf(request, addresses)),
    hangup: (id) => command(id, "hangup", {}),
    look: (id) => carrier.fetch("lookup", get(pathOf(id)), lookOf),
    find: ({ callId }) =>
      carrier.fetch("lookup", get("/v1/calls", { reference: callId }), (call) => {
        const [providerCallId, look] = [idIn(call), lookOf(call)]
        return providerCallId === undefined || look === undefined ? undefined : { providerCallId, look }
      }),
    transfer: {
      isTaken,
      order: ({ id }, { from, timeoutSeconds, to }, hook) =>
        send("POST", `${pathOf(id)}/transfer`, { from, hook, ringSeconds: secondsWithin(timeoutSeconds, limits), to })
    },
    sendDtmf: { digits: /^[0-9*#]{1,64}$/, send: (id, digits) => command(id, "keys", { digits }) }
  })
}

export const parley = defineHostedAdapter({
  manifest: {
    provider: "parley",
    displayName: "Parley",
    docsUrl: "https://parley.example/docs",
    callsPerSecond: 5,
    originatesInFlight: 4,
    tells: ["ringing", "keys", "marks", "answerer", "cost", "joined", "declined", "unnamed"],
    signs: ["address", "query", "body", "time"],
    transfers: ["attended"]
  },
  fields: {
    token: Credential.token({ label: "Token", placeholder: "par_..." }),
    signing_key: Credential.secret({ label: "Signing key", description: "Signs Parley's callbacks" })
  },
  account,
  rateKey: ({ token }) => token,
  connect,
  callbackHeaders: ["parley-signature"],
  proofOf: (request, { signing_key }) => proofOf(request, signing_key),
  read,
  media: jsonMedia(words)
})
