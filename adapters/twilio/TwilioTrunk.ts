/** Calls through Twilio's REST interface. What becomes of them, Twilio tells in callbacks (`TwilioStatus.ts`). */
import { Effect } from "effect"
import { asOutcome, type HostedCarrier, openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest, Outcome, Reply } from "#adapters/shared/HttpClient.ts"
import { doubtOf } from "#adapters/shared/originated.ts"
import { isAlive, type Look, type OriginateRequest, type Trunk, type TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { detailOf, errorCodeOf, isCallSid, isNotFound, placedSid, refusalOf, shows, standingOf } from "./TwilioReplies.ts"
import { type Addresses, formOf } from "./TwilioRequest.ts"
import { queriesFor, theOneOf } from "./TwilioSearch.ts"
import { endOf, presenceOf } from "./TwilioStatus.ts"

interface TwilioConfig {
  readonly account_sid: string
  readonly auth_token: string
  readonly amd_enabled: boolean
}

interface Twilio {
  readonly config: TwilioConfig
  readonly carrier: HostedCarrier
  readonly mediaUrl: TrunkContext["mediaUrl"]
  readonly onEvent: TrunkContext["onEvent"]
}

/** `path` is below the account's. */
const requestTo = ({ account_sid }: TwilioConfig, path: string, form?: string, query = ""): HttpRequest => ({
  method: form === undefined ? "GET" : "POST",
  path: `/2010-04-01/Accounts/${encodeURIComponent(account_sid)}${path}.json${query}`,
  ...(form === undefined ? {} : { body: { mediaType: "application/x-www-form-urlencoded", text: form } })
})

export const accountOf = (config: TwilioConfig) => ({
  provider: "twilio",
  displayName: "Twilio",
  origin: "https://api.twilio.com",
  authorization: `Basic ${Buffer.from(`${config.account_sid}:${config.auth_token}`).toString("base64")}`,
  check: { request: requestTo(config, ""), statusOf: (outcome: Outcome) => standingOf(outcome, config.account_sid) },
  advice: "Copy `account_sid` and `auth_token` from the account's dashboard in Twilio's console; the account must be active."
})

export const openTrunk = Effect.fnUntraced(function* (config: TwilioConfig, context: TrunkContext) {
  const carrier = yield* openCarrier(accountOf(config), context)
  const twilio: Twilio = { config, carrier, mediaUrl: context.mediaUrl, onEvent: context.onEvent }
  return yield* trunkOf(accountOf(config), carrier, context, {
    detects: config.amd_enabled,
    originate: (callbackUrl, request) => originate(twilio, callbackUrl, request),
    hangup: (call) => hangup(twilio, call),
    lookup: (call) => lookup(twilio, call)
  })
})

const originate = Effect.fn("twilio.originate")(function* (twilio: Twilio, callbackUrl: Addresses, request: OriginateRequest) {
  const { carrier, config, mediaUrl, onEvent } = twilio
  const { callId, leave } = request
  const body = requestTo(config, "/Calls", formOf(request, callbackUrl, mediaUrl?.(callId), config.amd_enabled))
  const outcome = yield* asOutcome(
    carrier.http.place({ ...body, leave: () => leave() }, (settled) => {
      // Even of a reply that comes too late for the originate.
      const sid = placedSid(settled)
      if (sid !== undefined) onEvent(callId, { _tag: "Named", providerCallId: sid })
    })
  )
  const providerCallId = placedSid(outcome)
  return providerCallId === undefined ? yield* refusalOf(outcome) ?? doubtOf(outcome, detailOf) : { providerCallId }
})

const askAbout = ({ carrier, config }: Twilio, operation: string, sid: string, form?: string) =>
  carrier.ask(operation, requestTo(config, `/Calls/${encodeURIComponent(sid)}`, form))

/** The call's record; undefined if Twilio has no such call. */
const fetchRecord = Effect.fnUntraced(function* (twilio: Twilio, operation: string, { providerCallId: sid }: CallRef) {
  if (!isCallSid(sid)) return yield* twilio.carrier.error(operation, "the call's id is not one of Twilio's")
  const reply = yield* askAbout(twilio, operation, sid)
  if (isNotFound(reply)) return undefined
  if (!shows(reply, sid) || presenceOf(reply.body) === undefined) return yield* twilio.carrier.error(operation, detailOf(reply))
  return reply.body
})

/** The one call that can be ours; undefined if there is none. */
const search = Effect.fnUntraced(function* ({ carrier, config }: Twilio, call: CallRef) {
  // One after the other: a call that leaves the queue in between is in the second list.
  const replies = yield* Effect.forEach(queriesFor(call), (query) =>
    carrier.ask("lookup", requestTo(config, "/Calls", undefined, `?${query}`))
  )
  const found = theOneOf(replies, call)
  return typeof found === "string" ? yield* carrier.error("lookup", found) : found
})

const look = (record: unknown, ...told: ReadonlyArray<TrunkEvent>): Look => ({
  presence: presenceOf(record) ?? "gone",
  told: [...told, ...endOf(record)]
})

const lookup = (twilio: Twilio, call: CallRef): ReturnType<Trunk["lookup"]> =>
  call.providerCallId === undefined
    ? Effect.map(search(twilio, call), (found) =>
        found === undefined ? look(undefined) : look(found.record, { _tag: "Named", providerCallId: found.sid })
      )
    : Effect.map(fetchRecord(twilio, "lookup", call), (record) => look(record))

/** 21220: the call's state does not allow it, which may mean that it has ended, or that it still waits and can only be canceled. */
const isOutOfState = (reply: Reply): boolean => errorCodeOf(reply) === 21220

const isWaiting = (record: unknown): boolean => presenceOf(record) === "queued" || presenceOf(record) === "ringing"

const hangup = Effect.fn("twilio.hangup")(function* (twilio: Twilio, call: CallRef) {
  const [sid, error] = [call.providerCallId, twilio.carrier.error]
  if (!isCallSid(sid)) return yield* error("hangup", "Twilio's id of the call is not known")
  const completed = yield* askAbout(twilio, "hangup", sid, "Status=completed")
  if (isNotFound(completed)) return
  if (shows(completed, sid) && !isWaiting(completed.body)) return
  if (!shows(completed, sid) && !isOutOfState(completed)) return yield* error("hangup", detailOf(completed))
  const presence = presenceOf(yield* fetchRecord(twilio, "hangup", call))
  if (presence === undefined || !isAlive(presence)) return
  const canceled = yield* askAbout(twilio, "hangup", sid, "Status=canceled")
  if (!shows(canceled, sid)) return yield* error("hangup", detailOf(canceled))
})
