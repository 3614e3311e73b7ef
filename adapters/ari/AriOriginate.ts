/**
 * The money rule. An originate is refused only when it is certain that no call came of it; it is sent once; and that a call was never
 * placed is said only on proof.
 */
import { Clock, Effect, Schema } from "effect"
import { CallId } from "#core/Id.ts"
import { OriginateDoubtful, OriginateRefused, type OriginateRequest } from "#core/provider/Adapter.ts"
import type { Call } from "./AriCalls.ts"
import { complaint, textAt } from "./AriJson.ts"
import { recheck } from "./AriReconcile.ts"
import { NotSent, type Outcome, type Reply, ReplyLost } from "./AriRest.ts"
import type { Asterisk } from "./Asterisk.ts"

/** How long a call is remembered of which there is no sign. */
const DOUBT_MILLIS = 600_000
/**
 * A request whose connection broke may still be worked on. After so long without a sign of its channel it never was: under full load
 * Asterisk takes seconds to make one.
 */
const SETTLE_MILLIS = 5_000
/** Asterisk at its limit of sessions says nothing of when to come back. */
const SESSION_LIMIT_RETRY_MILLIS = 1_000

const refused = (reason: OriginateRefused["reason"], detail: string) => new OriginateRefused({ reason, detail })

const isCallId = Schema.is(CallId)

/** The parameters, or why there cannot be any. Only digits and a plus reach the dial string: a number may name no other endpoint. */
const parametersOf = (asterisk: Asterisk, dialString: string, request: OriginateRequest) => {
  if (!isCallId(request.callId)) return refused("misconfigured", "not a call id")
  if (!/^\+?[0-9]{2,20}$/.test(request.to)) {
    return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number" })
  }
  if (request.from !== undefined && !/^\+?[0-9]{1,20}$/.test(request.from))
    return refused("misconfigured", "the caller id is not a phone number")
  const endpoint = dialString.replaceAll("{number}", request.to).replaceAll("{digits}", request.to.replace("+", ""))
  if (endpoint === dialString) return refused("misconfigured", "the dial string holds neither {number} nor {digits}")
  return {
    endpoint,
    app: asterisk.application,
    appArgs: `call,${request.callId}`,
    channelId: request.callId,
    timeout: String(Math.max(1, Math.ceil(request.ringTimeoutSeconds))),
    ...(request.from === undefined ? {} : { callerId: request.from }),
    // Without it a Local channel takes 192 kHz linear.
    ...(/^local\//i.test(endpoint) ? { formats: "ulaw" } : {})
  }
}

export const originate = Effect.fn("ari.originate")(function* (asterisk: Asterisk, dialString: string, request: OriginateRequest) {
  const { callId } = request
  const query = parametersOf(asterisk, dialString, request)
  if (query instanceof OriginateRefused) return yield* query
  // A call answered while nobody listens to its events is dropped by Asterisk.
  if (asterisk.status._tag !== "Up") return yield* refused("unreachable", "no events' websocket")
  const known = asterisk.calls.get(callId)
  if (known !== undefined)
    return known.request === "accepted" ? { providerCallId: callId } : yield* new OriginateDoubtful({ detail: "already sent" })

  const call = asterisk.calls.add(callId, request.ringTimeoutSeconds, asterisk.connection, "pending")
  const outcome = yield* asterisk.rest
    .place({ method: "POST", path: "/channels", query, leave: request.leave }, (late) => note(asterisk, callId, call, late))
    .pipe(
      Effect.catch((failure) => Effect.succeed(failure)),
      Effect.onInterrupt(() => Effect.sync(() => forgetUnlessSeen(asterisk, callId, call)))
    )
  // An event of it is as good as a reply.
  if (call.request === "accepted") return { providerCallId: callId }
  if (call.request === "pending") call.request = "lost"
  const refusal = refusalOf(outcome)
  if (refusal !== undefined) {
    asterisk.calls.forget(callId)
    return yield* refusal
  }
  forgetUnlessSeen(asterisk, callId, call)
  return yield* new OriginateDoubtful({ detail: "status" in outcome ? `HTTP ${outcome.status}` : outcome.detail })
})

const isPlaced = ({ status }: Reply) => (status >= 200 && status < 300) || status === 409

/** What an outcome proves, however late it comes. Evidence that the call exists outweighs any of it. */
const note = (asterisk: Asterisk, callId: string, call: Call, outcome: Outcome): void => {
  if (call.request === "accepted") return
  if ("status" in outcome && isPlaced(outcome)) {
    call.request = "accepted"
    // The connection was lost in between, and with it perhaps an event: compared anew.
    if (call.connection !== asterisk.connection) asterisk.background(recheck(asterisk, callId))
  } else if (refusalOf(outcome) !== undefined) {
    call.request = "refused"
  } else if (!(outcome instanceof ReplyLost) || outcome.cut) {
    call.request = "cut"
    call.cutAt = asterisk.now()
  }
}

/** Only where it is certain that there was no call; undefined is doubt. */
const refusalOf = (outcome: Outcome): OriginateRefused | undefined => {
  if (outcome instanceof NotSent) return refused(outcome.withdrawn ? "permit_lapsed" : "unreachable", outcome.detail)
  if (outcome instanceof ReplyLost) return undefined
  const { body, status } = outcome
  const detail = `HTTP ${status} ${complaint(body)}`.trim()
  if (status === 401 || status === 403) return refused("auth_refused", detail)
  if (status === 429 || status === 503)
    return new OriginateRefused({ reason: "rate_limited", retryAfterMillis: SESSION_LIMIT_RETRY_MILLIS, detail })
  if (status >= 400 && status < 500) return refused("misconfigured", detail)
  // No channel could be made: an unknown or unregistered trunk, or Asterisk is stopping.
  if (status === 500 && textAt(body, "error") === "Allocation failed") return refused("unreachable", detail)
  return undefined
}

export const forgetUnlessSeen = (asterisk: Asterisk, callId: string, call: Call): void => {
  const forget = Effect.sync(() => {
    if (call.request !== "accepted") asterisk.calls.forget(callId)
  })
  asterisk.background(Effect.delay(forget, DOUBT_MILLIS))
}

/**
 * For a call without a channel. Proof is a refusal that came late; or that the request's connection broke some time ago, while the
 * events' connection has held since before it and has brought no event of the call. A request that Asterisk may still hold unanswered
 * proves nothing: something that blocks it from making channels does so for minutes, and then it makes them.
 */
export const neverPlaced = Effect.fnUntraced(function* (asterisk: Asterisk, call: Call | undefined) {
  if (call === undefined) return false
  if (call.request === "refused") return true
  const { socket } = asterisk
  if (socket === undefined || call.request !== "cut" || call.connection !== asterisk.connection) return false
  if ((yield* Clock.currentTimeMillis) - call.cutAt < SETTLE_MILLIS) return false
  // All that was on its way has been heard after this, and may have changed the call.
  return (yield* socket.roundTrip) && asterisk.socket === socket && isCut(call)
})
const isCut = (call: Call) => call.request === "cut"
