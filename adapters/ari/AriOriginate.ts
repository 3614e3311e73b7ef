/**
 * The money rule. An originate is refused only if it is certain that no call resulted; it is sent once; and a call is reported as never placed
 * only on proof. Only Asterisk's own reply is proof: a proxy on the way may answer 503 or 504, or cut the connection, after it has forwarded the
 * request, and even its 403 may be a reaction to Asterisk's reply.
 */
import { Effect } from "effect"
import { OriginateDoubtful, OriginateRefused, type OriginateRequest } from "#core/provider/Adapter.ts"
import type { Extensions } from "#core/telephony/Extensions.ts"
import { type Call, isCallId } from "./AriCalls.ts"
import { complaint, textAt } from "#adapters/shared/Json.ts"
import { appArgsOf, type Dialplan, filled, variablesOf as dialplanVariables } from "./DialplanPlace.ts"
import { recheck } from "./AriReconcile.ts"
import { NotSent, type Outcome, type Reply } from "#adapters/shared/HttpClient.ts"
import { callerIdOf, type OriginateExtras, variablesOf } from "./AriVariables.ts"
import { type Asterisk, isFromAsterisk, isSuccess } from "./Asterisk.ts"

/** How long a call without any sign of life is remembered. */
const DOUBT_MILLIS = 600_000
/** Asterisk itself never answers 429; this is for one from a proxy without a `Retry-After`. */
const RATE_LIMIT_RETRY_MILLIS = 1_000

const refused = (reason: OriginateRefused["reason"], detail: string) => new OriginateRefused({ reason, detail })
const noEvents = refused("unreachable", "no events' websocket")

/** What the configuration says about every call. */
export interface Dialing {
  readonly dialString: string
  /** The only numbers without a plus that may be called. */
  readonly extensions: Extensions
  readonly extras: OriginateExtras
  /** Where answered calls go before they are ours. */
  readonly dialplan: Dialplan | undefined
}

/** The parameters, or why there can be none. Only digits and a plus reach the dial string, so that a number cannot name another endpoint. */
const parametersOf = (asterisk: Asterisk, { dialplan, dialString, extensions, extras }: Dialing, request: OriginateRequest) => {
  if (!isCallId(request.callId)) return refused("misconfigured", "not a call id")
  // The list of extensions has changed since: a person must fix that, and it is not the contact's fault.
  if (/^[0-9]{2,8}$/.test(request.to) && !extensions.has(request.to))
    return refused("misconfigured", "the number is not an extension that the telephony configuration lists")
  if (!/^\+?[0-9]{2,20}$/.test(request.to)) {
    return new OriginateRefused({ reason: "number_refused", cause: "invalid_number_format", detail: "not a phone number" })
  }
  if (request.from !== undefined && !/^\+?[0-9]{1,20}$/.test(request.from))
    return refused("misconfigured", "the caller id is not a phone number")
  const endpoint = filled(dialString, request.to)
  if (endpoint === dialString) return refused("misconfigured", "the dial string contains neither {number} nor {digits}")
  if (dialplan !== undefined && asterisk.now() < asterisk.noDialplanUntil) return refused("misconfigured", noPlace(dialplan))
  return {
    endpoint,
    app: asterisk.application,
    appArgs: dialplan === undefined ? `call,${request.callId}` : appArgsOf(dialplan, request.callId, request.to),
    channelId: request.callId,
    timeout: String(Math.max(1, Math.ceil(request.ringTimeoutSeconds))),
    ...(request.from === undefined ? {} : { callerId: callerIdOf(extras, request.from) }),
    // Without it a Local channel takes 192 kHz linear.
    ...(/^local\//i.test(endpoint) ? { formats: "ulaw" } : {})
  }
}

const noPlace = ({ context, extension, priority }: Dialplan): string =>
  `the dialplan has no ${context},${extension},${priority} for answered calls: the last one was hung up`

export const originate = Effect.fn("ari.originate")(function* (asterisk: Asterisk, dialing: Dialing, request: OriginateRequest) {
  const { callId } = request
  const query = parametersOf(asterisk, dialing, request)
  if (query instanceof OriginateRefused) return yield* query
  // Asterisk drops a call that is answered while nobody listens to its events.
  if (asterisk.status._tag !== "Up") return yield* noEvents
  const known = asterisk.calls.get(callId)
  if (known !== undefined)
    return known.request === "accepted" ? { providerCallId: callId } : yield* new OriginateDoubtful({ detail: "already sent" })

  const call = asterisk.calls.add(callId, request.ringTimeoutSeconds, "pending")
  const extras = variablesOf(dialing.extras, request.context ?? {})
  const variables = dialing.dialplan === undefined ? extras : { ...extras, ...dialplanVariables(asterisk.application, callId) }
  let isDeaf = false
  const leave = () => {
    isDeaf = asterisk.status._tag !== "Up"
    if (isDeaf || !request.leave(asterisk.name)) return false
    call.leftAt = asterisk.now()
    call.gap = false
    asterisk.doubt.left(call.leftAt)
    return true
  }
  const outcome = yield* asterisk.rest
    .place({ method: "POST", path: "/channels", query, ...(variables === undefined ? {} : { body: { variables } }), leave }, (settled) =>
      note(asterisk, callId, call, settled)
    )
    .pipe(
      Effect.catch((failure) => Effect.succeed(failure)),
      Effect.onInterrupt(() => Effect.sync(() => forgetUnlessSeen(asterisk, callId, call)))
    )
  // An event of the call is as good as a reply.
  if (call.request === "accepted") return { providerCallId: callId }
  if (call.request === "pending") call.request = "lost"
  const refusal = isDeaf ? noEvents : refusalOf(outcome, dialing.dialString)
  if (refusal !== undefined) {
    asterisk.calls.forget(callId)
    return yield* refusal
  }
  forgetUnlessSeen(asterisk, callId, call)
  return yield* doubtOf(outcome)
})

const doubtOf = (outcome: Outcome): OriginateDoubtful => {
  if (!("status" in outcome)) return new OriginateDoubtful({ detail: outcome.detail })
  const { retryAfterMillis, status } = outcome
  return new OriginateDoubtful({
    status,
    ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }),
    detail: `HTTP ${status}${isFromAsterisk(outcome) ? "" : ", not from Asterisk"}`
  })
}

/** The reply shows the channel, or says that its id is taken: by this call, because the id is new with each request. */
const isPlaced = (reply: Reply, callId: string): boolean =>
  isSuccess(reply) ? textAt(reply.body, "id") === callId : reply.status === 409 && isFromAsterisk(reply)

/** Records what an outcome proves, however late it arrives. Evidence that the call exists outweighs it. */
const note = (asterisk: Asterisk, callId: string, call: Call, outcome: Outcome): void => {
  const placed = "status" in outcome && isPlaced(outcome, callId)
  const refusal = refusalOf(outcome)
  if (call.leftAt !== undefined && (placed || refusal !== undefined)) asterisk.doubt.answered(call.leftAt, asterisk.now())
  const retryAfterMillis = "status" in outcome ? outcome.retryAfterMillis : undefined
  if (retryAfterMillis !== undefined) asterisk.doubt.restUntil(asterisk.now() + retryAfterMillis)
  if (call.request === "accepted") return
  if (placed) {
    call.request = "accepted"
    // The connection was lost in between, and with it perhaps an event, so the call is looked up.
    if (call.gap) asterisk.background(recheck(asterisk, callId))
  } else if (refusal !== undefined) {
    call.request = "refused"
  }
}

/** Returns a refusal only if it is certain that there was no call. `dialString` names the endpoint to the operator, without the number. */
const refusalOf = (outcome: Outcome, dialString = ""): OriginateRefused | undefined => {
  if (outcome instanceof NotSent) return refused(outcome.withdrawn ? "permit_lapsed" : "unreachable", outcome.detail)
  if (!("status" in outcome) || !isFromAsterisk(outcome)) return undefined
  const { body, retryAfterMillis = RATE_LIMIT_RETRY_MILLIS, status } = outcome
  const detail = `HTTP ${status} ${complaint(body)}`.trim()
  if (status === 401 || status === 403) return refused("auth_refused", detail)
  if (status === 429) return new OriginateRefused({ reason: "rate_limited", retryAfterMillis, detail })
  // Only the dial string decides whether the endpoint has a form that Asterisk knows: nothing but digits is put into it.
  if (status === 400 && /invalid endpoint/i.test(detail)) return refused("misconfigured", detail)
  if (status >= 400 && status < 500 && status !== 409) return refused("unexplained", detail)
  // No channel could be created: an unknown or unregistered trunk, or Asterisk is shutting down.
  if (status === 500 && textAt(body, "error") === "Allocation failed") return refused("unreachable", `${detail} ${dialString}`.trim())
  return undefined
}

export const forgetUnlessSeen = (asterisk: Asterisk, callId: string, call: Call): void => {
  const forget = Effect.sync(() => {
    if (call.request !== "accepted") asterisk.calls.forget(callId)
  })
  asterisk.background(Effect.delay(forget, DOUBT_MILLIS))
}
