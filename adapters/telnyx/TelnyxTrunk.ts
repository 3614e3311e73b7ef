/**
 * Calls through one Call Control application. Nothing is remembered of a call: what happens to it arrives as webhooks, at whichever node, and
 * every verb finds the call by its `CallRef`.
 */
import { Effect, Latch, Random } from "effect"
import type { KeyObject } from "node:crypto"
import { refusedWords, refusesUrl } from "#core/egress/Egress.ts"
import {
  OriginateDoubtful,
  OriginateRefused,
  type OriginateRequest,
  ProviderError,
  type Trunk,
  type TrunkContext,
  type TrunkStatus
} from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { NotSent, Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { activeCallsPath, applicationPath, callPath, makeApi, type TelnyxApi } from "./TelnyxApi.ts"
import { dialBodyOf } from "./TelnyxDial.ts"
import { activeCallsOf, eventNamesOf, presenceOf, recordOf } from "./TelnyxRecord.ts"
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
  const telnyx: Telnyx = { api, connectionId, context, hurry: Latch.makeUnsafe(false) }
  const obstacle = obstacleTo(settings, context, api.base)
  if (obstacle === undefined) yield* Effect.forkScoped(follow(telnyx))
  else context.onStatus(obstacle)
  const trunk: Trunk = {
    originate: (request) =>
      obstacle === undefined
        ? originate(telnyx, request)
        : Effect.fail(new OriginateRefused({ reason: "misconfigured", detail: obstacle.detail })),
    hangup: (call) => hangup(telnyx, call),
    lookup: (call) => lookup(telnyx, call),
    openMedia: () => Effect.fail(providerError("openMedia", "not served yet")),
    sendDtmf: (call, digits) => sendDtmf(telnyx, call, digits),
    // Its events come to the address that the call was placed with, whoever follows it.
    adopt: () => {},
    reconnect: () => {
      context.onStatus(obstacle ?? { _tag: "Connecting" })
      telnyx.hurry.openUnsafe()
    }
  }
  return trunk
})

type Down = Extract<TrunkStatus, { readonly _tag: "Down" }>

/** Why no call can be placed, whatever Telnyx says: it could not tell us that it was answered. */
const obstacleTo = (settings: TrunkSettings, { callbackUrl, egress }: TrunkContext, base: URL): Down | undefined => {
  const because = (detail: string): Down => ({ _tag: "Down", reason: "unreachable", detail })
  if (callbackUrl === undefined) return because("Telnyx cannot reach this engine: PUBLIC_URL is needed")
  if (settings.connectionId === "") return because("connection_id is needed: the id of a Call Control application")
  if (settings.publicKey === undefined) return because("webhook_public_key is needed: without it no event of a call can be believed")
  return refusesUrl(egress, base) ? because(refusedWords) : undefined
}

/** Checks the credentials again and again; each change of the result is a status. */
const follow = Effect.fnUntraced(function* ({ api, connectionId, context, hurry }: Telnyx) {
  context.onStatus({ _tag: "Connecting" })
  let last: TrunkStatus | undefined
  for (let failures = 0; ; ) {
    const status = statusOf(yield* Effect.catch(api.get(applicationPath(connectionId)), (failure) => Effect.succeed<Outcome>(failure)))
    if (status !== undefined) context.onStatus((last = status))
    failures = status?._tag === "Up" ? 0 : failures + 1
    const least = last?._tag === "Down" && last.reason === "auth" ? AUTH_RETRY_MILLIS : FIRST_RETRY_MILLIS
    const wait = failures === 0 ? CHECK_MILLIS : Math.min(least * 2 ** (failures - 1), CHECK_MILLIS)
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
  const outcome = yield* api
    .dial(body, () => request.leave(), settled)
    .pipe(
      Effect.catch((failure) => Effect.succeed<Outcome>(failure)),
      Effect.ensuring(
        Effect.sync(() => {
          isLate = true
        })
      )
    )
  const result = originated(outcome)
  if (result instanceof OriginateRefused && (result.reason === "auth_refused" || result.reason === "unreachable")) hurry.openUnsafe()
  if (result instanceof OriginateRefused || result instanceof OriginateDoubtful) return yield* result
  return result
})

const providerError = (operation: string, detail: string) => new ProviderError({ provider: "telnyx", operation, detail })

/** Fails unless the reply is one that `isExpected` knows. */
const ask = (
  operation: string,
  request: Effect.Effect<Reply, NotSent | Exclude<Outcome, Reply>>,
  isExpected: (reply: Reply) => boolean
): Effect.Effect<Reply, ProviderError> =>
  request.pipe(
    Effect.catch(({ detail }) => Effect.fail(providerError(operation, detail))),
    Effect.filterOrFail(isExpected, (reply) => providerError(operation, whatIsWrong(reply)))
  )

const hangup = Effect.fn("telnyx.hangup")(function* ({ api }: Telnyx, { providerCallId }: CallRef) {
  if (providerCallId === undefined) return yield* providerError("hangup", "Telnyx' id of the call is not known yet")
  // Without a command_id: a second hang-up is meant as one. A 404 is no success: the call may belong to another account.
  yield* ask("hangup", api.post(`${callPath(providerCallId)}/actions/hangup`, {}), (reply) => isDone(reply) || isEndedAlready(reply))
})

const sendDtmf = Effect.fn("telnyx.sendDtmf")(function* ({ api }: Telnyx, { providerCallId }: CallRef, digits: string) {
  if (!/^[0-9*#A-D]{1,64}$/.test(digits)) return yield* providerError("sendDtmf", "not DTMF digits")
  if (providerCallId === undefined) return yield* providerError("sendDtmf", "Telnyx' id of the call is not known yet")
  yield* ask("sendDtmf", api.post(`${callPath(providerCallId)}/actions/send_dtmf`, { digits }), isDone)
})

const lookup = Effect.fn("telnyx.lookup")(function* (telnyx: Telnyx, call: CallRef) {
  const { api } = telnyx
  const providerCallId = call.providerCallId ?? (yield* find(telnyx, call))
  if (providerCallId === undefined) return "gone"
  const reply = yield* ask("lookup", api.get(callPath(providerCallId)), ({ status }) => status === 200 || status === 404)
  if (isUnknown(reply)) return "gone"
  const record = recordOf(reply.body, providerCallId)
  if (record === undefined) return yield* providerError("lookup", `${whatIsWrong(reply)}, not the call's record`)
  if (record.hasEnded) return "gone"
  const { legId = "" } = record
  const query = { "filter[leg_id]": legId, "filter[type]": "webhook", "page[size]": PAGE_SIZE }
  const events = eventNamesOf((yield* ask("lookup", api.get("/call_events", query), ({ status }) => status === 200)).body, legId)
  return events === undefined ? yield* providerError("lookup", "not a list of events") : presenceOf(record, events)
})

/** Looks for a call whose id we have never been told among the live calls. It can still appear later. */
const find = Effect.fnUntraced(function* ({ api, connectionId, context }: Telnyx, { callId }: CallRef) {
  let after: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { "page[limit]": PAGE_SIZE, ...(after === undefined ? {} : { "page[after]": after }) }
    const reply = yield* ask("lookup", api.get(activeCallsPath(connectionId), query), ({ status }) => status === 200)
    const calls = activeCallsOf(reply.body, callId)
    if (calls === undefined) return yield* providerError("lookup", "not a list of live calls")
    const { found } = calls
    if (found !== undefined) context.onEvent(callId, { _tag: "Named", providerCallId: found })
    if (found !== undefined || calls.after === undefined) return found
    after = calls.after
  }
  return yield* providerError("lookup", "too many live calls")
})
