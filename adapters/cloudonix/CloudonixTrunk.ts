/**
 * Calls through one Cloudonix domain. Callbacks report their progress (`CloudonixCallback.ts`), but ends are only believed from Cloudonix' own
 * replies. Callbacks may be lost, so calls that have been silent for a while are looked up.
 */
import { Clock, Effect } from "effect"
import { FollowedCalls } from "#adapters/shared/FollowedCalls.ts"
import type { HostedCarrier } from "#adapters/shared/HostedCarrier.ts"
import { type Addresses, openTrunk } from "#adapters/shared/hostedTrunk.ts"
import type { Reply } from "#adapters/shared/HttpClient.ts"
import { numberIn } from "#adapters/shared/phoneNumbers.ts"
import { limitFor, RequestBudget } from "#adapters/shared/RequestBudget.ts"
import { isSuccess } from "#adapters/shared/replies.ts"
import { durationWithin, get, secondsWithin, send } from "#adapters/shared/requests.ts"
import { findIn } from "#adapters/shared/theOneOf.ts"
import { streamTo } from "#adapters/shared/twiml.ts"
import { transferDocument } from "#adapters/shared/twimlTransfer.ts"
import { at, textAt } from "#adapters/shared/Json.ts"
import type { OriginateRequest, Trunk, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { type CloudonixConfig, recordPath } from "./CloudonixAccount.ts"
import { isToken, replies, tokenIn } from "./CloudonixReplies.ts"
import { isOf, isOfAnother, lookOf } from "./CloudonixSession.ts"

/** For all requests of a domain together. https://developers.cloudonix.com/Documentation/core-api#rate-limiting */
const LIMIT = { most: 10, windowMillis: 10_000 }
/** One to place a call, and one to look it up. */
const REQUESTS_PER_CALL = 2
/** How often to check whether a call must be looked up. */
const POLL = "1 second"
/** Room for thousands of sessions. */
const LONGEST_LIST_BYTES = 16 * 1024 * 1024
const SECONDS = { least: 1, most: Number.POSITIVE_INFINITY }

interface Cloudonix {
  readonly carrier: HostedCarrier
  readonly domain: string
  readonly budget: RequestBudget
  readonly followed: FollowedCalls
}

export const connect = Effect.fnUntraced(function* (opened: HostedCarrier, config: CloudonixConfig, context: TrunkContext) {
  const clock = yield* Clock.Clock
  const budget = new RequestBudget(clock, limitFor(LIMIT, REQUESTS_PER_CALL, context.trunkRate))
  const [followed, domain] = [new FollowedCalls(clock), config.domain_id]
  const carrier = { ...opened, status: Effect.andThen(budget.spent, opened.status) }
  const cloudonix: Cloudonix = { budget, carrier, domain, followed }
  const trunk = yield* openTrunk(carrier, context, {
    isId: isToken,
    order: (request, addresses) => send("POST", `${callsPath(domain)}/application`, orderOf(request, addresses)),
    left: () => budget.spend(),
    placed: (call) => followed.heard(call),
    hangup: (token, call) => hangup(cloudonix, token, call),
    look: (token, call) => look(cloudonix, token, call),
    find: (call) => find(cloudonix, call),
    transfer: {
      order: ({ id }, request, address) =>
        send("POST", `${sessionPath(domain, id)}/application`, { cxml: transferDocument(request, address) }),
      isTaken: (reply) => isSuccess(reply) && at(reply.body, "error") === undefined
    },
    numbers: numbers(cloudonix)
  })
  yield* Effect.forkScoped(poll(cloudonix, trunk, context).pipe(Effect.delay(POLL), Effect.forever))
  return { ...trunk, adopt: (call: CallRef) => followed.heard(call) } satisfies Trunk
})

const callsPath = (domain: string): string => `/calls/${encodeURIComponent(domain)}`
const sessionPath = (domain: string, token: string): string => `${callsPath(domain)}/sessions/${encodeURIComponent(token)}`

/**
 * Nothing is sent that Cloudonix does not document.
 * https://developers.cloudonix.com/Documentation/apiWorkflow/callControlAndSessionManagement
 */
export const orderOf = (request: OriginateRequest, { callbackUrl, mediaUrl }: Addresses) => {
  const { callId, from, maxDurationSeconds, ringTimeoutSeconds, to } = request
  return {
    destination: to,
    "caller-id": from,
    cxml: streamTo(mediaUrl),
    callback: callbackUrl("session", callId),
    timeout: secondsWithin(ringTimeoutSeconds, SECONDS),
    // Whether it counts from the answer on is not documented.
    timeLimit: durationWithin(ringTimeoutSeconds + maxDurationSeconds, SECONDS)
  }
}

/** A session that is not found has ended, or never existed in the domain. */
const hangup = Effect.fnUntraced(function* ({ budget, carrier, domain, followed }: Cloudonix, token: string, call: CallRef) {
  yield* budget.spent
  yield* carrier.ask(
    "hangup",
    { method: "DELETE", path: sessionPath(domain, token) },
    (reply) => isSuccess(reply) || replies.isMissing(reply)
  )
  followed.suspect(call)
})

const look = Effect.fnUntraced(function* (cloudonix: Cloudonix, token: string, call: CallRef) {
  const { budget, carrier, domain, followed } = cloudonix
  yield* budget.turn
  const byToken = yield* carrier.fetch("lookup", get(sessionPath(domain, token)), (session) => lookAt(session, token, call))
  // It may also be the domain that was not found.
  const found = byToken ?? (yield* lookInList(cloudonix, token, call))
  if (found?.presence === "ended") followed.ended(call)
  else if (found !== undefined) followed.heard(call)
  return found
})

const lookAt = (session: unknown, token: string, call: CallRef) => (isOfAnother(session, call) ? undefined : lookOf(session, token))

const lookInList = Effect.fnUntraced(function* (cloudonix: Cloudonix, token: string, call: CallRef) {
  const session = (yield* liveSessions(cloudonix)).find((one) => tokenIn(one) === token)
  if (session === undefined) return undefined
  return lookAt(session, token, call) ?? (yield* cloudonix.carrier.error("lookup", "not the call's session"))
})

const liveSessions = Effect.fnUntraced(function* ({ budget, carrier, domain }: Cloudonix) {
  yield* budget.turn
  const { body } = yield* carrier.ask("lookup", { ...get(`${callsPath(domain)}/sessions`), maxBytes: LONGEST_LIST_BYTES }, isList)
  return [body].flat()
})

const isList = (reply: Reply): boolean => isSuccess(reply) && Array.isArray(reply.body)

/** Searches the live sessions. */
const find = Effect.fnUntraced(function* (cloudonix: Cloudonix, call: CallRef) {
  const { carrier, followed } = cloudonix
  const idOf = (session: unknown) => (isOf(call, session) ? tokenIn(session) : undefined)
  const found = yield* findIn(carrier, call, liveSessions(cloudonix), idOf, (session) => lookOf(session, tokenIn(session) ?? ""))
  if (found === undefined) return undefined
  if (found.look === undefined) return yield* carrier.error("lookup", "not a list of sessions")
  followed.heard({ ...call, providerCallId: found.providerCallId })
  return found
})

/** Looks up the call that has been silent for the longest time. */
const poll = Effect.fnUntraced(function* ({ budget, followed }: Cloudonix, { lookup }: Trunk, { onEvent }: TrunkContext) {
  const call = budget.mayPoll() ? followed.silent() : undefined
  if (call === undefined) return
  const look = yield* Effect.option(lookup(call))
  // Other calls are looked up first.
  if (look._tag === "None") return followed.heard(call)
  for (const event of look.value.told) onEvent(call.callId, event)
  if (look.value.presence !== "gone") return
  followed.ended(call)
  onEvent(call.callId, { _tag: "HungUp", cause: "unknown" })
})

/** The numbers of the domain. */
const numbers = ({ budget, carrier, domain }: Cloudonix) =>
  Effect.map(Effect.andThen(budget.spent, carrier.ask("numbers", get(`${recordPath(domain)}/dnids`), isList)), numbersIn)

export const numbersIn = ({ body }: Pick<Reply, "body">): ReadonlyArray<string> =>
  [body].flat().flatMap((one) => numberIn(textAt(one, "source") ?? textAt(one, "dnid")))
