/**
 * Transfers of a live call. Blind: the callee's channel continues in a dialplan context that the configuration names. Attended: the destination
 * is dialed as a second channel while the callee waits, and takes the agent's place in the bridge when it answers; until then, or if it does
 * not, the callee stays with the agent.
 *
 * The id of a second channel contains its call and our application, and does not have the form of a call's id, so that it is not taken for a
 * call and can be found after a crash of the engine. A second channel that still rings then is hung up, and one that was answered stays with
 * the callee until either of them hangs up, or the engine ends the call, as it does with calls that it has lost track of.
 */
import { createHash } from "node:crypto"
import { Deferred, Effect } from "effect"
import { fromQ850, type HangupCause } from "#core/outcome/HangupCause.ts"
import type { CallId } from "#core/Id.ts"
import { TransferDoubtful, TransferRefused, type TransferRequest } from "#core/provider/Transfer.ts"
import type { ChannelList } from "./AriListing.ts"
import type { ChannelEvent } from "./AriEvents.ts"
import { textAt } from "#adapters/shared/Json.ts"
import {
  type AgentLine,
  ask,
  type Asterisk,
  channelPath,
  isFromAsterisk,
  isNoChannel,
  isSuccess,
  type Transfer,
  type TransferOutcome
} from "./Asterisk.ts"

/** Where calls may be transferred to. An empty value disables that kind of transfer. */
export interface Destinations {
  /** For attended transfers, with `{number}` or `{digits}`. */
  readonly dialString: string
  /** For blind transfers. */
  readonly context: string
}

/** Asterisk ends the ringing itself; this covers the case that its event is missed. */
const SLACK_MILLIS = 5_000
const NORMAL_CLEARING = 16
const callIdLength = 36

const prefixOf = ({ application }: Asterisk): string => `transfer-${createHash("sha256").update(application).digest("hex").slice(0, 8)}-`

const connected: TransferOutcome = { _tag: "Connected" }
const calleeGone: TransferOutcome = { _tag: "CalleeGone" }
const declined = (cause: HangupCause): TransferOutcome => ({ _tag: "Declined", cause })

const refused = (detail: string) => new TransferRefused({ detail })

export const transfer = Effect.fn("ari.transfer")(function* (
  asterisk: Asterisk,
  destinations: Destinations,
  callId: CallId,
  request: TransferRequest
) {
  // A destination must not be able to name another endpoint or context, or an option of a dial string.
  if (!/^\+?[0-9]{1,20}$/.test(request.to)) return yield* refused("the destination is not a number")
  if (request.from !== undefined && !/^\+?[0-9]{1,20}$/.test(request.from)) return yield* refused("the caller id is not a number")
  if (asterisk.calls.get(callId)?.answered !== true) return yield* refused("the call is not up")
  if (asterisk.transfers.has(callId)) return yield* refused("the call is being transferred, or was transferred before")
  return yield* request.kind === "blind"
    ? handOver(asterisk, destinations, callId, request)
    : connect(asterisk, destinations, callId, request)
})

const handOver = Effect.fnUntraced(function* (asterisk: Asterisk, { context }: Destinations, callId: CallId, request: TransferRequest) {
  const { leave, to, transfer } = request
  if (context === "") return yield* refused("the telephony configuration names no context for blind transfers")
  const variable = `DIALPLAN_EXISTS(${context},${to},1)`
  const look = { method: "GET", path: `${channelPath(callId)}/variable`, query: { variable } } as const
  // Without func_dialplan.so the answer is unknown.
  const exists = yield* Effect.mapError(
    ask(asterisk, "transfer", look, () => true),
    ({ detail }) => refused(detail)
  )
  // Asterisk would hang up on a callee who is sent there.
  if (textAt(exists.body, "value") === "0") return yield* refused("the dialplan has no such extension")
  // Keeps Asterisk reporting events of the channel: see `AriDialplan`.
  const application = encodeURIComponent(asterisk.application)
  yield* tell(asterisk, "POST", `/applications/${application}/subscription`, { eventSource: `channel:${callId}` })
  const query = { context, extension: to, priority: "1" }
  const reply = yield* send(asterisk, { method: "POST", path: `${channelPath(callId)}/continue`, query, leave })
  // The end of a call that is gone is reported.
  if (isSuccess(reply)) asterisk.report(callId, { _tag: "Transferred", transfer, answered: true })
  else if (!isNoChannel(reply)) return yield* isFromAsterisk(reply) ? refused(`HTTP ${reply.status}`) : doubt(`HTTP ${reply.status}`)
})

const doubt = (detail: string) => new TransferDoubtful({ detail })

const send = (asterisk: Asterisk, request: Parameters<Asterisk["rest"]["send"]>[0]) =>
  Effect.catchTags(asterisk.rest.send(request), {
    NotSent: ({ detail }) => Effect.fail(refused(detail)),
    ReplyLost: ({ detail }) => Effect.fail(doubt(detail))
  })

const connect = Effect.fnUntraced(function* (asterisk: Asterisk, { dialString }: Destinations, callId: CallId, request: TransferRequest) {
  const endpoint = dialString.replaceAll("{number}", request.to).replaceAll("{digits}", request.to.replace("+", ""))
  if (dialString === "") return yield* refused("the telephony configuration has no dial string for transfers")
  if (endpoint === dialString) return yield* refused("the dial string for transfers contains neither {number} nor {digits}")
  const line = asterisk.lines.get(callId)
  if (line === undefined) return yield* refused("the call has no audio that could be transferred")
  const one = begin(asterisk, callId, `${prefixOf(asterisk)}${callId}-${request.transfer}`)
  const dialing = Effect.andThen(putOnHold(asterisk, line), dial(asterisk, callId, one, endpoint, request))
  yield* Effect.onError(dialing, () => giveUp(asterisk, callId, one, line))
  asterisk.background(conclude(asterisk, callId, one, line, request))
})

/** Waits for the destination, and reports the outcome. */
const conclude = Effect.fnUntraced(function* (
  asterisk: Asterisk,
  callId: CallId,
  one: Transfer,
  line: AgentLine,
  { timeoutSeconds, transfer }: TransferRequest
) {
  const settled = yield* Deferred.await(one.settled).pipe(
    Effect.timeoutOrElse({ duration: timeoutSeconds * 1000 + SLACK_MILLIS, orElse: () => Effect.succeed(declined("ring_timeout")) })
  )
  const outcome = settled === connected ? yield* join(asterisk, callId, one, line) : settled
  if (outcome._tag === "Connected") return asterisk.report(callId, { _tag: "Transferred", transfer, answered: true })
  yield* giveUp(asterisk, callId, one, outcome === calleeGone ? undefined : line)
  if (outcome._tag === "Declined") asterisk.report(callId, { _tag: "Transferred", transfer, answered: false, cause: outcome.cause })
})

/** Stops dialing, and brings the callee, if still there, back to the agent. */
const giveUp = (asterisk: Asterisk, callId: string, one: Transfer, line: AgentLine | undefined) =>
  Effect.suspend(() => {
    forget(asterisk, callId, one)
    return Effect.andThen(hangUp(asterisk, one.legId), line === undefined ? Effect.void : takeBack(asterisk, line))
  })

/** Follows both ends from before the second channel exists. */
const begin = (asterisk: Asterisk, callId: string, legId: string): Transfer => {
  const one: Transfer = { legId, settled: Deferred.makeUnsafe(), isConnected: false }
  asterisk.transfers.set(callId, one)
  asterisk.media.set(legId, {
    started: () => Deferred.doneUnsafe(one.settled, Effect.succeed(connected)),
    gone: (event) => legGone(asterisk, callId, one, causeOf(event))
  })
  return one
}

const causeOf = ({ cause, sipStatus }: ChannelEvent & { readonly type: "ChannelDestroyed" }): HangupCause => {
  const told = fromQ850(cause, sipStatus)
  // Depending on its version, Asterisk reports its own ring timeout as 0.
  return cause === 0 ? "ring_timeout" : told
}

const dial = (asterisk: Asterisk, callId: CallId, one: Transfer, endpoint: string, { from, leave, timeoutSeconds }: TransferRequest) => {
  const query = {
    endpoint,
    app: asterisk.application,
    appArgs: `transfer,${callId}`,
    channelId: one.legId,
    timeout: String(Math.max(1, Math.ceil(timeoutSeconds))),
    ...(from === undefined ? {} : { callerId: from }),
    // Without it a Local channel takes 192 kHz linear.
    ...(/^local\//i.test(endpoint) ? { formats: "ulaw" } : {})
  }
  // Uninterruptible: a channel dialed after it was hung up would ring. If the reply is lost, events tell whether it was dialed.
  return send(asterisk, { method: "POST", path: "/channels", query, leave }).pipe(
    Effect.tap((reply) => {
      const isRefused = !isSuccess(reply) && isFromAsterisk(reply)
      return isRefused ? Deferred.succeed(one.settled, declined("no_route")) : Effect.void
    }),
    Effect.catchTag("TransferDoubtful", () => Effect.void),
    Effect.uninterruptible
  )
}

const join = Effect.fnUntraced(function* (asterisk: Asterisk, callId: CallId, one: Transfer, { bridgeId }: AgentLine) {
  yield* tell(asterisk, "DELETE", `/bridges/${bridgeId}/moh`)
  const added = yield* Effect.result(
    ask(asterisk, "transfer", { method: "POST", path: `/bridges/${bridgeId}/addChannel`, query: { channel: one.legId } })
  )
  if (asterisk.calls.get(callId) === undefined) return calleeGone
  if (added._tag === "Failure") return declined("temporary_failure")
  // The destination may have hung up in between.
  if (!asterisk.media.has(one.legId)) return declined("normal_clearing")
  one.isConnected = true
  return connected
}, Effect.uninterruptible)

const forget = (asterisk: Asterisk, callId: string, { legId }: Transfer): void => {
  asterisk.media.delete(legId)
  asterisk.transfers.delete(callId)
}

const legGone = (asterisk: Asterisk, callId: string, one: Transfer, cause: HangupCause): void => {
  asterisk.media.delete(one.legId)
  Deferred.doneUnsafe(one.settled, Effect.succeed(declined(cause)))
  if (!one.isConnected) return
  forget(asterisk, callId, one)
  // Nobody talks to the callee any more.
  asterisk.background(hangUp(asterisk, callId))
}

/** The call has ended, and with it its transfer. */
export const callGone = (asterisk: Asterisk, callId: string): void => {
  const one = asterisk.transfers.get(callId)
  if (one === undefined) return
  Deferred.doneUnsafe(one.settled, Effect.succeed(calleeGone))
  if (!one.isConnected) return
  forget(asterisk, callId, one)
  asterisk.background(hangUp(asterisk, one.legId))
}

/** The transfers whose parties are talking, by call. A list of channels requested later shows their channels, unless they have ended. */
export const connectedLegs = ({ transfers }: Asterisk): ReadonlyArray<readonly [callId: string, Transfer]> =>
  [...transfers].filter(([, one]) => one.isConnected)

/** Settles transfers against a list of channels: some second channels have ended unnoticed, and others are followed by nobody. */
export const settleLegs = (asterisk: Asterisk, before: ReturnType<typeof connectedLegs>, present: ChannelList): void => {
  for (const [callId, one] of before) if (!present.has(one.legId)) legGone(asterisk, callId, one, "normal_clearing")
  const prefix = prefixOf(asterisk)
  const followed = new Set([...asterisk.transfers.values()].map(({ legId }) => legId))
  for (const [id, { state }] of present) {
    if (!id.startsWith(prefix) || followed.has(id)) continue
    const callId = id.slice(prefix.length, prefix.length + callIdLength)
    // The process that dialed it is gone: a channel without a partner will never get one.
    if (state === "Up" && present.has(callId) && !asterisk.transfers.has(callId)) begin(asterisk, callId, id).isConnected = true
    else asterisk.background(hangUp(asterisk, id))
  }
}

/** Leaves the callee alone in the bridge, with music on hold if Asterisk has some. */
const putOnHold = (asterisk: Asterisk, { bridgeId, mediaId }: AgentLine) =>
  Effect.andThen(
    tell(asterisk, "POST", `/bridges/${bridgeId}/removeChannel`, { channel: mediaId }),
    tell(asterisk, "POST", `/bridges/${bridgeId}/moh`)
  )

const takeBack = (asterisk: Asterisk, { bridgeId, mediaId }: AgentLine) =>
  Effect.andThen(
    tell(asterisk, "DELETE", `/bridges/${bridgeId}/moh`),
    tell(asterisk, "POST", `/bridges/${bridgeId}/addChannel`, { channel: mediaId })
  )

const hangUp = (asterisk: Asterisk, id: string) => tell(asterisk, "DELETE", channelPath(id), { reason_code: String(NORMAL_CLEARING) })

/** Sends a request whose result does not matter. */
const tell = (asterisk: Asterisk, method: "POST" | "DELETE", path: string, query: Readonly<Record<string, string>> = {}) =>
  Effect.ignore(ask(asterisk, "transfer", { method, path, query }))
