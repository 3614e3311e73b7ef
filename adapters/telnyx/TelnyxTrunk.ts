/**
 * Calls through one Call Control application. Nothing is remembered of a call: what happens to it arrives as webhooks, at whichever node, and
 * every verb finds the call by its `CallRef`.
 */
import type { KeyObject } from "node:crypto"
import { Effect, Latch, Random } from "effect"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import { OriginateRefused, type OriginateRequest, ProviderError } from "#core/provider/Adapter.ts"
import type { Trunk, TrunkContext, TrunkStatus } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { makeApi, pathOf, type TelnyxApi } from "./TelnyxApi.ts"
import { dialBodyOf } from "./TelnyxDial.ts"
import { activeCallsOf, presenceOf, recordOf } from "./TelnyxRecord.ts"
import { isDone, isEndedAlready, isUnknown, originated, statusOf, whatIsWrong } from "./TelnyxReply.ts"

export interface TrunkSettings {
  readonly apiKey: string
  readonly connectionId: string
  readonly publicKey: KeyObject | undefined
}

interface Telnyx {
  readonly api: TelnyxApi
  readonly connectionId: string
  readonly context: TrunkContext
  /** Opened to make the next check start now. */
  readonly hurry: Latch.Latch
  status: TrunkStatus
}

const CHECK_MILLIS = 60_000
const FIRST_RETRY_MILLIS = 1_000
/** A wrong key does not become right by trying often. */
const AUTH_RETRY_MILLIS = 30_000
/** Of calls or events. */
const PAGE_SIZE = "250"
const MOST_PAGES = 20

export const openTrunk = Effect.fnUntraced(function* (settings: TrunkSettings, context: TrunkContext) {
  const { connectionId } = settings
  const api = yield* makeApi(settings.apiKey, context)
  const obstacle = obstacleTo(settings, context, api.base)
  const status: TrunkStatus = obstacle === undefined ? { _tag: "Connecting" } : { _tag: "Down", reason: "unreachable", detail: obstacle }
  const telnyx: Telnyx = { api, connectionId, context, hurry: Latch.makeUnsafe(false), status }
  context.onStatus(status)
  if (obstacle === undefined) yield* Effect.forkScoped(follow(telnyx))
  const trunk: Trunk = {
    originate: (request) =>
      obstacle === undefined
        ? originate(telnyx, request)
        : Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: obstacle })),
    hangup: (call) => hangup(telnyx, call),
    lookup: (call) => lookup(telnyx, call),
    openMedia: () => Effect.fail(providerError("openMedia", "not served yet")),
    sendDtmf: (call, digits) => sendDtmf(telnyx, call, digits),
    // Its events come to the address that the call was placed with, whoever follows it.
    adopt: () => {},
    reconnect: () => {
      if (obstacle !== undefined || telnyx.status._tag !== "Down") return
      tell(telnyx, { _tag: "Connecting" })
      telnyx.hurry.openUnsafe()
    }
  }
  return trunk
})

/** Why no call can be placed, whatever Telnyx says: nobody would hear of its answer. */
const obstacleTo = (settings: TrunkSettings, { callbackUrl, egress }: TrunkContext, base: URL): string | undefined => {
  if (callbackUrl === undefined) return "Telnyx cannot reach this engine: PUBLIC_URL is needed"
  if (settings.connectionId === "") return "connection_id is needed: the id of a Call Control application"
  if (settings.publicKey === undefined) return "webhook_public_key is needed: without it no event of a call can be believed"
  return refusesUrl(egress, base) ? refusedWords : undefined
}

const tell = (telnyx: Telnyx, status: TrunkStatus): void => {
  if (JSON.stringify(status) === JSON.stringify(telnyx.status)) return
  telnyx.status = status
  telnyx.context.onStatus(status)
}

/** Checks the credentials for as long as the trunk is open. */
const follow = Effect.fnUntraced(function* (telnyx: Telnyx) {
  const { api, connectionId, hurry } = telnyx
  for (let failures = 0; ; ) {
    const status = statusOf(yield* api.get(pathOf("call_control_applications", connectionId)))
    if (status !== undefined) tell(telnyx, status)
    failures = status?._tag === "Up" ? 0 : failures + 1
    const first = status?._tag === "Down" && status.reason === "auth" ? AUTH_RETRY_MILLIS : FIRST_RETRY_MILLIS
    const wait = failures === 0 ? CHECK_MILLIS : Math.min(first * 2 ** (failures - 1), CHECK_MILLIS)
    // The jitter keeps many trunks from coming back at once.
    yield* Effect.timeoutOption(hurry.await, wait * (0.5 + (yield* Random.next)))
    hurry.closeUnsafe()
  }
})

const originate = Effect.fn("telnyx.originate")(function* (telnyx: Telnyx, request: OriginateRequest) {
  const { api, connectionId, context, hurry } = telnyx
  const { callId } = request
  const body = dialBodyOf({ connectionId, webhookUrl: context.callbackUrl?.("event", callId) ?? "" }, request)
  if (body instanceof OriginateRefused) return yield* body
  let isLate = false
  const settled = (outcome: Outcome) => {
    const result = originated(outcome)
    if (isLate && "providerCallId" in result) context.onEvent(callId, { _tag: "Named", ...result })
  }
  const stopWaiting = Effect.sync(() => {
    isLate = true
  })
  const result = originated(yield* api.dial(body, () => request.leave(), settled).pipe(Effect.ensuring(stopWaiting)))
  if ("providerCallId" in result) return result
  // The status may be out of date.
  if (result._tag === "OriginateRefused" && (result.reason === "auth_refused" || result.reason === "unreachable")) hurry.openUnsafe()
  return yield* result
})

const providerError = (operation: string, detail: string) => new ProviderError({ provider: "telnyx", operation, detail })

/** Fails unless the reply is one that `isExpected` knows. */
const ask = (operation: string, asked: Effect.Effect<Outcome>, isExpected: (reply: Reply) => boolean) =>
  Effect.flatMap(asked, (outcome) => {
    if (!("status" in outcome)) return Effect.fail(providerError(operation, outcome.detail))
    return isExpected(outcome) ? Effect.succeed(outcome) : Effect.fail(providerError(operation, whatIsWrong(outcome)))
  })

const command = (operation: string, { api }: Telnyx, { providerCallId }: CallRef, action: string, body: object, isExpected = isDone) =>
  providerCallId === undefined
    ? Effect.fail(providerError(operation, "Telnyx' id of the call is not known yet"))
    : Effect.asVoid(ask(operation, api.post(`${pathOf("calls", providerCallId)}/actions/${action}`, body), isExpected))

/** Without a `command_id`, so that a second hang-up is not ignored. A 404 is no success: the call may belong to another account. */
const hangup = (telnyx: Telnyx, call: CallRef) =>
  command("hangup", telnyx, call, "hangup", {}, (reply) => isDone(reply) || isEndedAlready(reply))

const sendDtmf = (telnyx: Telnyx, call: CallRef, digits: string) =>
  /^[0-9*#A-D]{1,64}$/.test(digits)
    ? command("sendDtmf", telnyx, call, "send_dtmf", { digits })
    : Effect.fail(providerError("sendDtmf", "not DTMF digits"))

const isOk = ({ status }: Reply): boolean => status === 200

const lookup = Effect.fn("telnyx.lookup")(function* (telnyx: Telnyx, call: CallRef) {
  const { api } = telnyx
  const providerCallId = call.providerCallId ?? (yield* find(telnyx, call))
  if (providerCallId === undefined) return "gone"
  const reply = yield* ask("lookup", api.get(pathOf("calls", providerCallId)), (reply) => isOk(reply) || isUnknown(reply))
  if (isUnknown(reply)) return "gone"
  const record = recordOf(reply.body, providerCallId)
  if (record === undefined) return yield* providerError("lookup", "not the call's record")
  if (record.hasEnded) return "gone"
  const query = { "filter[leg_id]": record.legId, "filter[type]": "webhook", "page[size]": PAGE_SIZE }
  const events = yield* ask("lookup", api.get("/call_events", query), isOk)
  return presenceOf(record, events.body) ?? (yield* providerError("lookup", "not a list of events"))
})

/** Looks for a call whose id we have never been told among the live calls. It can still appear later. */
const find = Effect.fnUntraced(function* ({ api, connectionId, context }: Telnyx, { callId }: CallRef) {
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { "page[limit]": PAGE_SIZE, ...(after === undefined ? {} : { "page[after]": after }) }
    const reply = yield* ask("lookup", api.get(`${pathOf("connections", connectionId)}/active_calls`, query), isOk)
    const calls = activeCallsOf(reply.body, callId)
    if (calls === undefined) return yield* providerError("lookup", "not a list of live calls")
    const { found } = calls
    if (found !== undefined) context.onEvent(callId, { _tag: "Named", providerCallId: found })
    if (found !== undefined || calls.after === undefined) return found
    after = calls.after
  }
  return yield* providerError("lookup", "too many live calls")
})
