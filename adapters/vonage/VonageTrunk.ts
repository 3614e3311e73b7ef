/** Calls through one application of Vonage's Voice API. What becomes of them, Vonage tells in webhooks (`VonageStatus.ts`). */
import { Effect } from "effect"
import { asOutcome, type HostedCarrier, openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest } from "#adapters/shared/HttpClient.ts"
import { doubtOf } from "#adapters/shared/originated.ts"
import { allOf } from "#adapters/shared/pages.ts"
import type { Look, OriginateRequest, Trunk, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { accountOf, get, openNumbers, type VonageConfig } from "./VonageAccount.ts"
import { detailOf, isDone, isNotFound, isOutOfState, placedUuid, refusalOf, shows } from "./VonageReplies.ts"
import { bodyOf } from "./VonageRequest.ts"
import { pageOf, queryFor, theOneOf } from "./VonageSearch.ts"
import { endOf, presenceOf } from "./VonageStatus.ts"

interface Vonage {
  readonly carrier: HostedCarrier
  readonly mediaUrl: TrunkContext["mediaUrl"]
  readonly onEvent: TrunkContext["onEvent"]
}

const send = (method: "POST" | "PUT", path: string, body: object): HttpRequest => ({
  method,
  path,
  body: { mediaType: "application/json", text: JSON.stringify(body) }
})
const callPath = (uuid: string): string => `/v1/calls/${encodeURIComponent(uuid)}`

export const openTrunk = Effect.fnUntraced(function* (config: VonageConfig, context: TrunkContext) {
  const account = accountOf(config)
  const carrier = yield* openCarrier(account, context)
  const vonage: Vonage = { carrier, mediaUrl: context.mediaUrl, onEvent: context.onEvent }
  const numbers = yield* openNumbers(config, context)
  return yield* trunkOf(account, carrier, context, {
    detects: true,
    originate: (callbackUrl, request) => originate(vonage, callbackUrl("event", request.callId), request),
    hangup: (call) => hangup(vonage, call),
    lookup: (call) => lookup(vonage, call),
    sendDtmf: (call, digits) => sendDtmf(vonage, call, digits),
    numbers
  })
})

const originate = Effect.fn("vonage.originate")(function* (vonage: Vonage, eventUrl: string, request: OriginateRequest) {
  const { carrier, mediaUrl, onEvent } = vonage
  const { callId, leave } = request
  const place = send("POST", "/v1/calls", bodyOf(request, { eventUrl, mediaUrl: mediaUrl?.(callId) }))
  const outcome = yield* asOutcome(
    carrier.http.place({ ...place, leave: () => leave() }, (settled) => {
      // Even of a reply that comes too late for the originate.
      const uuid = placedUuid(settled)
      if (uuid !== undefined) onEvent(callId, { _tag: "Named", providerCallId: uuid })
    })
  )
  const providerCallId = placedUuid(outcome)
  return providerCallId === undefined ? yield* refusalOf(outcome) ?? doubtOf(outcome, detailOf) : { providerCallId }
})

/** The call's record; undefined if Vonage has no such call. */
const fetchRecord = Effect.fnUntraced(function* ({ carrier }: Vonage, operation: string, uuid: string) {
  const reply = yield* carrier.ask(operation, get(callPath(uuid)))
  if (isNotFound(reply)) return undefined
  if (!shows(reply, uuid) || presenceOf(reply.body) === undefined) return yield* carrier.error(operation, detailOf(reply))
  return reply.body
})

/** The one call that can be ours; undefined if there is none. */
const search = Effect.fnUntraced(function* ({ carrier }: Vonage, call: CallRef) {
  if (call.to === undefined) return yield* carrier.error("lookup", "neither the call's id nor its number is known")
  const next = (listed: number) => get(`/v1/calls?${queryFor(call, listed)}`)
  const found = theOneOf(yield* allOf(carrier, "lookup", { describe: detailOf, next, read: pageOf }), call)
  return typeof found === "string" ? yield* carrier.error("lookup", found) : found
})

const look = (record: unknown, ...told: ReadonlyArray<TrunkEvent>): Look => ({
  presence: presenceOf(record) ?? "gone",
  told: [...told, ...endOf(record)]
})

const lookup = (vonage: Vonage, call: CallRef): ReturnType<Trunk["lookup"]> =>
  call.providerCallId === undefined
    ? Effect.map(search(vonage, call), (found) =>
        found === undefined ? look(undefined) : look(found.record, { _tag: "Named", providerCallId: found.uuid })
      )
    : Effect.map(fetchRecord(vonage, "lookup", call.providerCallId), (record) => look(record))

const hangup = Effect.fn("vonage.hangup")(function* (vonage: Vonage, { providerCallId: uuid }: CallRef) {
  const { ask, error } = vonage.carrier
  if (uuid === undefined) return yield* error("hangup", "Vonage's id of the call is not known")
  const reply = yield* ask("hangup", send("PUT", callPath(uuid), { action: "hangup" }))
  if (isDone(reply)) return
  if (!isNotFound(reply) && !isOutOfState(reply)) return yield* error("hangup", detailOf(reply))
  // Vonage says so of a call that has ended, and of one that it does not have.
  const record = yield* fetchRecord(vonage, "hangup", uuid)
  if (record !== undefined && presenceOf(record) !== "ended") return yield* error("hangup", detailOf(reply))
})

const sendDtmf = Effect.fn("vonage.sendDtmf")(function* ({ carrier }: Vonage, { providerCallId: uuid }: CallRef, digits: string) {
  if (uuid === undefined) return yield* carrier.error("sendDtmf", "Vonage's id of the call is not known")
  if (!/^[0-9*#]{1,64}$/.test(digits)) return yield* carrier.error("sendDtmf", "not keys that Vonage can send")
  const reply = yield* carrier.ask("sendDtmf", send("PUT", `${callPath(uuid)}/dtmf`, { digits }))
  if (!shows(reply, uuid)) return yield* carrier.error("sendDtmf", detailOf(reply))
})
