/**
 * Parley, a carrier that does not exist: a whole adapter of a hosted carrier as somebody from outside would write it. Calls are placed over REST and
 * followed through signed callbacks; Parley opens a websocket for the audio of each.
 */
import { Effect } from "effect"
import {
  defineAdapter,
  type Look,
  OriginateRefused,
  type OriginateRequest,
  type Presence,
  type TrunkContext,
  type TrunkStatus
} from "#core/provider/Adapter.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import { type CallRef, isProviderCallId } from "#core/provider/CallRef.ts"
import * as Credential from "#core/provider/Credential.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { fromSip } from "#core/outcome/HangupCause.ts"
import { hmac, isSameText } from "#adapters/shared/hmac.ts"
import { asOutcome, type HostedCarrier, openCarrier, trunkOf, verifyAccount } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest, Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, parse, textAt } from "#adapters/shared/Json.ts"
import { type JsonDialect, jsonMedia } from "#adapters/shared/JsonMedia.ts"
import { carrierLimitSeconds, doubtOf, isSuccess, notSent } from "#adapters/shared/originated.ts"
import { publicAddressStep } from "#adapters/shared/setup.ts"

interface Parley {
  readonly carrier: HostedCarrier
  readonly context: TrunkContext
}

/** The status, and Parley's code if there is one. */
const describe = ({ body, status }: Reply): string => `${status} ${textAt(body, "error", "code") ?? ""}`.trimEnd()

/** Only Parley's own errors are proof; a proxy on the way can produce any status. */
const refusals: Readonly<Record<string, Pick<OriginateRefused, "reason" | "cause" | "retryAfterMillis">>> = {
  "401 bad_token": { reason: "auth_refused" },
  "402 no_balance": { reason: "no_credit" },
  "422 bad_from": { reason: "caller_id_refused" },
  "422 bad_to": { reason: "number_refused", cause: "invalid_number_format" },
  "429 slow_down": { reason: "rate_limited", retryAfterMillis: 2_000 }
}

const refusalOf = (outcome: Outcome): OriginateRefused | undefined => {
  if (!("status" in outcome)) return notSent(outcome)
  const known = refusals[describe(outcome)]
  return known && new OriginateRefused({ ...known, detail: describe(outcome) })
}

const idIn = (outcome: Outcome): string | undefined => {
  const id = "status" in outcome && outcome.status === 201 ? at(outcome.body, "call") : undefined
  return isProviderCallId(id) ? id : undefined
}

const statusOf = (outcome: Outcome): TrunkStatus => {
  const down = (reason: "auth" | "unreachable", detail: string): TrunkStatus => ({ _tag: "Down", reason, detail })
  if (!("status" in outcome)) return down("unreachable", outcome.detail)
  if (refusals[describe(outcome)]?.reason === "auth_refused") return down("auth", describe(outcome))
  return isSuccess(outcome) && textAt(outcome.body, "account") !== undefined ? { _tag: "Up" } : down("unreachable", describe(outcome))
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
    ...(state === "over" && overAt !== undefined ? [{ _tag: "HungUp", cause: causeOf(call), at: overAt } as const] : []),
    ...(amount === undefined || currency === undefined ? [] : [{ _tag: "Billed", amount, currency } as const])
  ]
}

/** HMAC-SHA256 over the time, the address and the body. */
const OLDEST_SECONDS = 300
const isSigned = (key: string, { at: now, body, headers, url }: Callback): boolean => {
  const [, time, signature] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(headers["parley-signature"] ?? "") ?? []
  if (time === undefined || Math.abs(now / 1000 - Number(time)) > OLDEST_SECONDS) return false
  return isSameText(signature, hmac("sha256", key, `${time}.${url}.${Buffer.from(body)}`).toString("hex"))
}

const read = (key: string, callback: Callback): CallbackRead | undefined => {
  if (!isSigned(key, callback)) return undefined
  const told = parse(Buffer.from(callback.body).toString())
  const [id, providerCallId, known] = [textAt(told, "event"), at(told, "call", "call"), callback.call?.providerCallId]
  // Not about a call, or about another one than that of the address.
  if (id === undefined || !isProviderCallId(providerCallId) || (known ?? providerCallId) !== providerCallId) return { events: [] }
  const named: ReadonlyArray<TrunkEvent> = known === undefined ? [{ _tag: "Named", providerCallId }] : []
  return { deliveryId: id, events: [...named, ...eventsOf(at(told, "call"))].map((event) => ({ event })) }
}

const get = (path: string): HttpRequest => ({ method: "GET", path: `/v1${path}` })
const post = (path: string, body: object): HttpRequest => ({
  method: "POST",
  path: `/v1${path}`,
  body: { mediaType: "application/json", text: JSON.stringify(body) }
})
const pathOf = (providerCallId: string): string => `/calls/${encodeURIComponent(providerCallId)}`

const originate = Effect.fn("parley.originate")(function* ({ carrier, context }: Parley, hook: string, request: OriginateRequest) {
  const { callId, detect, from, leave, maxDurationSeconds, ringTimeoutSeconds, to } = request
  const body = {
    from,
    hook,
    listens: detect !== "no",
    maxSeconds: carrierLimitSeconds(maxDurationSeconds),
    reference: callId,
    ringSeconds: Math.ceil(ringTimeoutSeconds),
    stream: context.mediaUrl?.(callId),
    to
  }
  const outcome = yield* asOutcome(
    carrier.http.place({ ...post("/calls", body), leave: () => leave() }, (settled) => {
      // Even of a reply that comes too late for the originate.
      const providerCallId = idIn(settled)
      if (providerCallId !== undefined) context.onEvent(callId, { _tag: "Named", providerCallId })
    })
  )
  const providerCallId = idIn(outcome)
  return providerCallId === undefined ? yield* refusalOf(outcome) ?? doubtOf(outcome, describe) : { providerCallId }
})

/** By Parley's id, or by ours where that was never told. */
const lookup = Effect.fn("parley.lookup")(function* ({ carrier }: Parley, { callId, providerCallId }: CallRef) {
  const reply = yield* carrier.ask("lookup", get(providerCallId === undefined ? `/calls?reference=${callId}` : pathOf(providerCallId)))
  if (describe(reply) === "404 no_call") return { presence: "gone", told: [] } satisfies Look
  const [id, presence] = [at(reply.body, "call"), presences[textAt(reply.body, "state") ?? ""]]
  if (!isSuccess(reply) || !isProviderCallId(id) || presence === undefined) return yield* carrier.error("lookup", describe(reply))
  const named: ReadonlyArray<TrunkEvent> = providerCallId === undefined ? [{ _tag: "Named", providerCallId: id }] : []
  return { presence, told: [...named, ...eventsOf(reply.body)] }
})

const command = Effect.fnUntraced(function* ({ carrier }: Parley, verb: "hangup" | "keys", { providerCallId }: CallRef, body: object) {
  if (providerCallId === undefined) return yield* carrier.error(verb, "Parley's id of the call is not known")
  const reply = yield* carrier.ask(verb, post(`${pathOf(providerCallId)}/${verb}`, body))
  const isDone = reply.status === 202 && textAt(reply.body, "call") === providerCallId
  if (!isDone && describe(reply) !== "409 over") return yield* carrier.error(verb, describe(reply))
})

const accountOf = (token: string) => ({
  provider: "parley",
  displayName: "Parley",
  origin: "https://api.parley.example",
  authorization: `Bearer ${token}`,
  check: { request: get("/account"), statusOf },
  advice: "Copy `token` and `signing_key` from Parley's console."
})

const words: JsonDialect = {
  streamIdIn: (start) => textAt(start, "stream"),
  audio: (stream, payload) => ({ event: "media", stream, media: { payload } }),
  clear: (stream) => ({ event: "hush", stream }),
  mark: (stream, id) => ({ event: "mark", stream, id }),
  played: { event: "mark", idIn: (message) => textAt(message, "id") }
}

export const parley = defineAdapter({
  manifest: {
    contract: 2,
    provider: "parley",
    displayName: "Parley",
    docsUrl: "https://parley.example/docs",
    callsPerSecond: 5,
    originatesInFlight: 4,
    needsCallerId: true,
    tells: ["ringing", "keys", "marks", "answerer", "cost", "unnamed"],
    signs: ["address", "query", "body", "time"]
  },
  fields: {
    token: Credential.secret({ label: "Token", placeholder: "par_..." }),
    signing_key: Credential.secret({ label: "Signing key", description: "Signs Parley's callbacks" })
  },
  callbackHeaders: ["parley-signature"],
  connect: Effect.fn("parley.connect")(function* (config, context) {
    const carrier = yield* openCarrier(accountOf(config.token), context)
    const line: Parley = { carrier, context }
    return yield* trunkOf(accountOf(config.token), carrier, context, {
      originate: (callbackUrl, request) => originate(line, callbackUrl("call", request.callId), request),
      hangup: (call) => command(line, "hangup", call, {}),
      lookup: (call) => lookup(line, call),
      sendDtmf: (call, digits) => command(line, "keys", call, { digits })
    })
  }),
  media: { accept: jsonMedia(words) },
  rateKey: ({ token }) => token,
  read: ({ signing_key }, callback) => read(signing_key, callback),
  setup: (_, host) => [publicAddressStep("Parley", host)],
  verify: ({ token }, context) => verifyAccount(accountOf(token), context)
})
