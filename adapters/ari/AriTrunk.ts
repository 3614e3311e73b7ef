/** Keeps the calls of one trunk in step with Asterisk: follows the events, and after each gap in them compares what we know with its channels. */
import { Clock, Effect, Latch, Schedule, type Scope } from "effect"
import { type HangupCause, q850Of } from "#core/outcome/HangupCause.ts"
import type { CallId } from "#core/Id.ts"
import {
  OriginateRefused,
  type Look,
  type Presence,
  type Trunk,
  type TrunkContext,
  type TrunkStatus,
  type UnseenRequest
} from "#core/provider/Adapter.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { AriCalls } from "./AriCalls.ts"
import { findChannel } from "./AriChannels.ts"
import { enter } from "./AriDialplan.ts"
import { AriDoubt } from "./AriDoubt.ts"
import { type ChannelEvent, dialplanEventTypes, down, type Ended, eventTypes, keepConnected } from "./AriEvents.ts"
import { openMedia } from "./AriMedia.ts"
import { type Dialing, forgetUnlessSeen, originate } from "./AriOriginate.ts"
import { makeOvertaking } from "./AriOvertaking.ts"
import { recheck, reconcile, sweepBridges } from "./AriReconcile.ts"
import { make as makeRest } from "./AriRest.ts"
import { callGone, type Destinations, transfer } from "./AriTransfer.ts"
import { ask, type Asterisk, authorizationOf, channelPath, isNoChannel, nameOf, providerError } from "./Asterisk.ts"

export interface TrunkSettings extends Dialing {
  readonly base: URL
  readonly user: string
  readonly password: string
  readonly application: string
  readonly transfers: Destinations
}

const BRIDGE_SWEEP_MILLIS = 600_000
/**
 * How often all channels are checked although there was no gap in the events. While another client has our application, this is the only way in
 * which calls are followed.
 */
const SWEEP_MILLIS = 30_000
const NORMAL_CLEARING = 16

export const openTrunk = Effect.fnUntraced(function* (settings: TrunkSettings, context: TrunkContext) {
  const asterisk = yield* makeAsterisk(settings, context)
  yield* Effect.forkScoped(follow(asterisk, settings, context))
  const overtake = makeOvertaking(asterisk, settings.dialString)
  const trunk: Trunk = {
    originate: (request) => originate(asterisk, settings, request),
    hangup: ({ callId }, cause) => hangup(asterisk, callId, cause),
    lookup: ({ callId }) => lookup(asterisk, callId),
    openMedia: ({ callId }) => openMedia(asterisk, callId),
    sendDtmf: ({ callId }, digits) => sendDtmf(asterisk, callId, digits),
    transfer: ({ callId }, request) => transfer(asterisk, settings.transfers, callId, request),
    adopt: ({ callId }) => adopt(asterisk, callId),
    mayAppear: (request) => mayAppear(asterisk, request, overtake),
    reconnect: () => reconnect(asterisk, context)
  }
  return trunk
})

/** A trunk for an invalid configuration, which says so whatever it is asked to do. */
export const unusableTrunk = (context: TrunkContext, detail: string): Trunk => {
  context.onStatus(down("unreachable", detail))
  return {
    originate: () => Effect.fail(new OriginateRefused({ reason: "misconfigured", detail })),
    hangup: () => Effect.fail(providerError("hangup", detail)),
    lookup: () => Effect.fail(providerError("lookup", detail)),
    openMedia: () => Effect.fail(providerError("openMedia", detail)),
    sendDtmf: () => Effect.fail(providerError("sendDtmf", detail)),
    adopt: () => {}
  }
}

const makeAsterisk = Effect.fnUntraced(function* (settings: TrunkSettings, context: TrunkContext) {
  const { application, base } = settings
  const authorization = authorizationOf(settings)
  const scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const now = () => SteadyTime.nowOf(clock)
  const fork = Effect.runForkWith(yield* Effect.context<Scope.Scope>())
  const asterisk: Asterisk = {
    base,
    name: nameOf(base),
    authorization,
    application,
    now,
    rest: yield* makeRest(base, authorization, context.egress),
    egress: context.egress,
    calls: new AriCalls(
      (callId, event) => {
        if (event._tag === "HungUp") callGone(asterisk, callId)
        context.onEvent(callId, event)
      },
      now,
      { isUsed: settings.dialplan !== undefined, enter: (callId, place) => asterisk.background(enter(asterisk, callId, place)) }
    ),
    report: context.onEvent,
    doubt: new AriDoubt(),
    media: new Map(),
    lines: new Map(),
    transfers: new Map(),
    bridges: new Set(),
    background: (effect) => {
      fork(Effect.forkIn(effect, scope))
    },
    hurry: Latch.makeUnsafe(false),
    status: { _tag: "Connecting" },
    socket: undefined,
    missing: new Set(),
    looking: undefined,
    noMediaSocketUntil: Number.NEGATIVE_INFINITY,
    noDialplanUntil: Number.NEGATIVE_INFINITY
  }
  return asterisk
})

const follow = Effect.fnUntraced(function* (asterisk: Asterisk, { dialplan }: TrunkSettings, context: TrunkContext) {
  const types = dialplan === undefined ? eventTypes : dialplanEventTypes
  yield* keepConnected({
    base: asterisk.base,
    application: asterisk.application,
    authorization: asterisk.authorization,
    egress: asterisk.egress,
    onEvent: (event) => route(asterisk, event),
    onStatus: (status: TrunkStatus) => {
      const before = asterisk.status
      asterisk.status = status
      // Each failed attempt to reconnect reports the same status.
      if (status._tag === "Down" && before._tag === "Down" && status.detail === before.detail) return
      context.onStatus(status)
    },
    onLost: () => {
      asterisk.socket = undefined
      // Whatever ended this connection may have ended or frozen the request connections too.
      asterisk.rest.renewConnections()
    },
    hurry: asterisk.hurry,
    prepare: Effect.fnUntraced(function* (socket) {
      asterisk.calls.noteGap()
      asterisk.socket = socket
      asterisk.noMediaSocketUntil = Number.NEGATIVE_INFINITY
      yield* filterEvents(asterisk, types)
      yield* reconcile(asterisk, true).pipe(Effect.catch((error) => Effect.fail(down("unreachable", `reconcile: ${error.detail}`))))
      const sweep = Effect.repeat(Effect.ignore(reconcile(asterisk, false)), Schedule.spaced(SWEEP_MILLIS))
      yield* Effect.forkScoped(Effect.delay(sweep, SWEEP_MILLIS))
      yield* Effect.forkScoped(Effect.repeat(Effect.ignore(sweepBridges(asterisk)), Schedule.spaced(BRIDGE_SWEEP_MILLIS)))
    })
  })
  yield* Effect.repeat(Effect.ignore(reconcile(asterisk, true)), Schedule.spaced(SWEEP_MILLIS))
})

const reconnect = (asterisk: Asterisk, context: TrunkContext): void => {
  const { status } = asterisk
  if (status._tag !== "Down" || status.reason === "replaced") return
  asterisk.status = { _tag: "Connecting" }
  context.onStatus(asterisk.status)
  asterisk.hurry.openUnsafe()
}

const route = ({ calls, media }: Asterisk, event: ChannelEvent): void => {
  const watcher = media.get(event.id)
  if (watcher === undefined) calls.handle(event)
  else if (event.type === "StasisStart") watcher.started()
  else if (event.type === "ChannelDestroyed") watcher.gone(event)
}

/** The filter belongs to the application, which a restart of Asterisk forgets. Old versions do not support it. */
const filterEvents = Effect.fnUntraced(function* (asterisk: Asterisk, types: typeof eventTypes) {
  const { status } = yield* asterisk.rest
    .send({
      method: "PUT",
      path: `/applications/${encodeURIComponent(asterisk.application)}/eventFilter`,
      body: { allowed: types.map((type) => ({ type })) }
    })
    .pipe(Effect.catch((error): Effect.Effect<never, Ended> => Effect.fail(down("unreachable", error.detail))))
  if (status === 401 || status === 403) return yield* Effect.fail(down("auth", `the ARI user may look but not act (HTTP ${status})`))
})

const hangup = Effect.fn("ari.hangup")(function* (asterisk: Asterisk, callId: CallId, cause: HangupCause) {
  const call = asterisk.calls.get(callId)
  if (call !== undefined) call.asked ??= cause
  yield* ask(
    asterisk,
    "hangup",
    {
      method: "DELETE",
      path: channelPath(callId),
      query: { reason_code: String(q850Of(cause) || NORMAL_CLEARING) }
    },
    isNoChannel
  )
})

/** A look at Asterisk tells only whether the call is there; everything else comes as an event. */
const seen = (presence: Presence): Look => ({ presence, told: [] })

const lookup = Effect.fn("ari.lookup")(function* (asterisk: Asterisk, callId: CallId) {
  const channel = yield* findChannel(asterisk, "lookup", callId)
  const call = asterisk.calls.get(callId)
  // Only a late refusal is proof. A request left behind by a broken connection may still be carried out later.
  const gone: Presence = call?.request === "refused" ? "never_placed" : "gone"
  if (channel === undefined) return seen(gone)
  if (call !== undefined) call.request = "accepted"
  return seen(channel.state === "Up" ? "up" : "ringing")
})

const mayAppear = (
  asterisk: Asterisk,
  { ageMillis, call: { callId, endpoint = asterisk.name }, ringTimeoutSeconds }: UnseenRequest,
  overtake: (leftAt: number) => void
): boolean => {
  const known = asterisk.calls.get(callId)
  if (known?.request === "refused") return false
  // It left for another Asterisk, which the configuration named before.
  if (endpoint !== asterisk.name) return true
  const now = asterisk.now()
  const leftAt = known?.leftAt ?? now - ageMillis
  overtake(leftAt)
  return asterisk.doubt.mayAppear(leftAt, ringTimeoutSeconds, now)
}

const sendDtmf = Effect.fn("ari.sendDtmf")(function* (asterisk: Asterisk, callId: CallId, digits: string) {
  if (!/^[0-9*#A-D]{1,64}$/.test(digits)) return yield* providerError("sendDtmf", "not DTMF digits")
  yield* ask(asterisk, "sendDtmf", {
    method: "POST",
    path: `${channelPath(callId)}/dtmf`,
    query: { dtmf: digits, duration: "100", between: "100" }
  })
})

/** Whether the call exists is unknown, so its absence from a list ends nothing. */
const adopt = (asterisk: Asterisk, callId: CallId): void => {
  if (asterisk.calls.get(callId) !== undefined) return
  const call = asterisk.calls.add(callId, Number.POSITIVE_INFINITY, "lost")
  forgetUnlessSeen(asterisk, callId, call)
  if (asterisk.status._tag === "Up") asterisk.background(recheck(asterisk, callId))
}
