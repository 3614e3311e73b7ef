/**
 * Calls through one domain of Cloudonix. What becomes of them, its callbacks tell (`CloudonixCallback.ts`), except for their ends, which are
 * believed only from its own replies. Callbacks may be lost: calls that have been silent for a while are asked for.
 */
import { Clock, Effect } from "effect"
import { FollowedCalls } from "#adapters/shared/FollowedCalls.ts"
import { asOutcome, type HostedCarrier, openCarrier, trunkOf } from "#adapters/shared/HostedCarrier.ts"
import type { HttpRequest, Reply } from "#adapters/shared/HttpClient.ts"
import { at } from "#adapters/shared/Json.ts"
import { RequestBudget } from "#adapters/shared/RequestBudget.ts"
import type { Look, OriginateRequest, Trunk, TrunkContext } from "#core/provider/Adapter.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { domainRequest, numbersRequest, orderRequest, sessionRequest, sessionsRequest } from "./CloudonixDomain.ts"
import { orderOf } from "./CloudonixOrder.ts"
import { isNotFound, isToken, numbersIn, originated, statusOf, whatIsWrong } from "./CloudonixReply.ts"
import { isOfAnother, lookOf, sessionsIn, theOneOf } from "./CloudonixSession.ts"

interface CloudonixConfig {
  readonly bearer_token: string
  readonly domain_id: string
}

interface Cloudonix {
  readonly domain: string
  readonly carrier: HostedCarrier
  readonly budget: RequestBudget
  readonly followed: FollowedCalls
  readonly context: TrunkContext
}

/** For a domain, whatever is asked for. https://developers.cloudonix.com/Documentation/core-api#rate-limiting */
const LIMIT = { most: 10, windowMillis: 10_000 }
/** A call is placed, and looked at. */
const REQUESTS_PER_CALL = 2

/** An operator who sets a higher rate of calls has a domain with a higher limit. */
const limitOf = ({ trunkRate = 0 }: TrunkContext) => ({
  ...LIMIT,
  most: Math.max(LIMIT.most, Math.floor((trunkRate * REQUESTS_PER_CALL * LIMIT.windowMillis) / 1000))
})
/** How often it is checked whether a call is to be asked for. */
const POLL = "1 second"

export const accountOf = ({ bearer_token, domain_id }: CloudonixConfig) => ({
  provider: "cloudonix",
  displayName: "Cloudonix",
  origin: "https://api.cloudonix.io",
  authorization: `Bearer ${bearer_token}`,
  check: { request: domainRequest(domain_id), statusOf },
  advice: "Copy an API key of the domain to `bearer_token`, and the domain's name to `domain_id`."
})

export const openTrunk = Effect.fnUntraced(function* (config: CloudonixConfig, context: TrunkContext) {
  const clock = yield* Clock.Clock
  const budget = new RequestBudget(clock, limitOf(context))
  const opened = yield* openCarrier(accountOf(config), context)
  const carrier = { ...opened, status: Effect.andThen(budget.spent, opened.status) }
  const cloudonix: Cloudonix = {
    domain: config.domain_id,
    carrier,
    budget,
    followed: new FollowedCalls(clock),
    context
  }
  yield* Effect.forkScoped(poll(cloudonix).pipe(Effect.delay(POLL), Effect.forever))
  const trunk = yield* trunkOf(accountOf(config), carrier, context, {
    originate: (callbackUrl, request) => originate(cloudonix, callbackUrl("session", request.callId), request),
    hangup: (call) => hangup(cloudonix, call),
    lookup: (call) => lookup(cloudonix, call),
    numbers: numbers(cloudonix)
  })
  return { ...trunk, adopt: (call: CallRef) => cloudonix.followed.heard(call) } satisfies Trunk
})

const originate = Effect.fn("cloudonix.originate")(function* (cloudonix: Cloudonix, callbackUrl: string, request: OriginateRequest) {
  const { budget, carrier, context, domain, followed } = cloudonix
  const { callId, from, leave, to } = request
  const order = orderRequest(domain, orderOf(request, callbackUrl, context.mediaUrl?.(callId)))
  const sentAt = yield* Clock.currentTimeMillis
  const mayLeave = () => {
    const may = leave()
    if (may) budget.spend()
    return may
  }
  const outcome = yield* asOutcome(
    carrier.http.place({ ...order, leave: mayLeave }, (settled) => {
      // Even of a reply that comes too late for the originate.
      const named = originated(settled)
      if (!("providerCallId" in named)) return
      followed.heard({ callId, from, to, sentAt, endpoint: undefined, providerCallId: named.providerCallId })
      context.onEvent(callId, { _tag: "Named", ...named })
    })
  )
  const result = originated(outcome)
  return "providerCallId" in result ? result : yield* result
})

/** Fails unless the reply is one that `isExpected` knows. */
const ask = ({ carrier }: Cloudonix, operation: string, request: HttpRequest, isExpected: (reply: Reply) => boolean) =>
  Effect.filterOrFail(carrier.ask(operation, request), isExpected, (reply) => carrier.error(operation, whatIsWrong(reply)))

/** A session that is not found has ended, or the domain has never had it. */
const hangup = Effect.fn("cloudonix.hangup")(function* (cloudonix: Cloudonix, call: CallRef) {
  const { budget, carrier, domain, followed } = cloudonix
  const token = call.providerCallId
  if (!isToken(token)) return yield* carrier.error("hangup", "the session's token is not known")
  yield* budget.spent
  const request = sessionRequest("DELETE", domain, token)
  yield* ask(cloudonix, "hangup", request, (reply) => isHungUp(reply) || isNotFound(reply))
  followed.suspect(call)
})

const isHungUp = ({ status }: Reply): boolean => status === 200 || status === 204
const isOk = ({ status }: Reply): boolean => status === 200

const gone: Look = { presence: "gone", told: [] }

const lookup = Effect.fn("cloudonix.lookup")(function* (cloudonix: Cloudonix, call: CallRef) {
  const { followed } = cloudonix
  if (call.providerCallId === undefined) return yield* search(cloudonix, call)
  const look = yield* fetchLook(cloudonix, call, call.providerCallId)
  if (look.presence === "ended") followed.ended(call)
  else if (look !== gone) followed.heard(call)
  return look
})

const fetchLook = Effect.fnUntraced(function* (cloudonix: Cloudonix, call: CallRef, token: string) {
  const { budget, carrier, domain } = cloudonix
  if (!isToken(token)) return yield* carrier.error("lookup", "the call's id is not a session's token")
  yield* budget.turn
  const reply = yield* ask(cloudonix, "lookup", sessionRequest("GET", domain, token), (reply) => isOk(reply) || isNotFound(reply))
  const lookAt = (session: unknown) => (isOfAnother(session, call) ? undefined : lookOf(session, token))
  if (!isNotFound(reply)) return lookAt(reply.body) ?? (yield* carrier.error("lookup", "not the call's session"))
  // It may also be the domain that is not found.
  const session = (yield* liveSessions(cloudonix)).find((one) => at(one, "token") === token)
  return session === undefined ? gone : (lookAt(session) ?? (yield* carrier.error("lookup", "not the call's session")))
})

const liveSessions = Effect.fnUntraced(function* (cloudonix: Cloudonix) {
  yield* cloudonix.budget.turn
  const { body } = yield* ask(cloudonix, "lookup", sessionsRequest(cloudonix.domain), isOk)
  return sessionsIn(body) ?? (yield* cloudonix.carrier.error("lookup", "not a list of sessions"))
})

const search = Effect.fnUntraced(function* (cloudonix: Cloudonix, call: CallRef) {
  const { carrier, followed } = cloudonix
  const found = theOneOf(yield* liveSessions(cloudonix), call)
  if (typeof found === "string") return yield* carrier.error("lookup", found)
  if (found === undefined) return gone
  const look = lookOf(found.session, found.token)
  if (look === undefined) return yield* carrier.error("lookup", "not a list of sessions")
  followed.heard({ ...call, providerCallId: found.token })
  return { ...look, told: [{ _tag: "Named", providerCallId: found.token } as const, ...look.told] }
})

/** Asks for the call that has been silent for the longest time. */
const poll = Effect.fnUntraced(function* (cloudonix: Cloudonix) {
  const { budget, context, followed } = cloudonix
  const call = budget.mayPoll() ? followed.silent() : undefined
  if (call === undefined) return
  const look = yield* Effect.option(lookup(cloudonix, call))
  // Other calls are asked for first.
  if (look._tag === "None") return followed.heard(call)
  for (const event of look.value.told) context.onEvent(call.callId, event)
  if (look.value !== gone) return
  followed.ended(call)
  context.onEvent(call.callId, { _tag: "HungUp", cause: "unknown" })
})

const numbers = ({ budget, carrier, domain }: Cloudonix) =>
  Effect.gen(function* () {
    yield* budget.spent
    const reply = yield* carrier.ask("numbers", numbersRequest(domain))
    return numbersIn(reply) ?? (yield* carrier.error("numbers", whatIsWrong(reply)))
  })
