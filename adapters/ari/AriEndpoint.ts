/**
 * One of several Asterisks behind a configuration: its trunk, how it is doing, and a call's way through it. An Asterisk that fails rests, and
 * is tried again with one call at a time, as a trunk is that has no other (`TrunkHealth`).
 */
import { Clock, Effect, Exit, Scope } from "effect"
import type { CallId } from "#core/Id.ts"
import {
  type OriginateDoubtful,
  OriginateRefused,
  type OriginateRequest,
  type Trunk,
  type TrunkContext,
  type TrunkEvent,
  type TrunkStatus
} from "#core/provider/Adapter.ts"
import { makeHealth, type TrunkHealth } from "#core/provider/TrunkHealth.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { openTrunk, type TrunkSettings } from "./AriTrunk.ts"
import { nameOf } from "./Asterisk.ts"

/** Requests without a reply through one Asterisk, while another could take the next. */
const MOST_WAITING = 12
/** A request has waited so long for its reply that the next had better go elsewhere. */
const SLOW_MILLIS = 2000
/** How long a connection may take while another Asterisk could take the call. */
const CONNECT_MILLIS = 3000

export interface EndpointSettings {
  readonly settings: TrunkSettings
  /** 0: it takes no new calls. */
  readonly weight: number
}

export interface AriEndpoint {
  readonly name: string
  readonly weight: number
  readonly trunk: Trunk
  readonly health: TrunkHealth
  /** Of the process that this is. */
  readonly now: () => SteadyTime.SteadyMillis
  readonly close: Effect.Effect<void>
  /** Requests that wait for their reply, and since when; oldest first. */
  readonly waiting: Map<CallId, SteadyTime.SteadyMillis>
  /** What it is owed of the calls that are shared out. */
  credit: number
}

interface EndpointListener {
  readonly onEvent: (endpoint: AriEndpoint, callId: string, event: TrunkEvent) => void
  readonly onStatus: () => void
}

export const openEndpoint = (given: EndpointSettings, context: TrunkContext, listener: EndpointListener) =>
  Effect.annotateLogs(open(given, context, listener), { endpoint: nameOf(given.settings.base) })

const open = Effect.fnUntraced(function* ({ settings, weight }: EndpointSettings, context: TrunkContext, listener: EndpointListener) {
  const clock = yield* Clock.Clock
  const scope = yield* Scope.fork(yield* Effect.scope)
  const { health, onStatus } = makeHealth(clock)
  yield* logChanges(health).pipe(Scope.provide(scope))
  let endpoint: AriEndpoint | undefined
  const trunk = yield* openTrunk(settings, {
    ...context,
    onEvent: (callId, event) => {
      if (endpoint !== undefined) listener.onEvent(endpoint, callId, event)
    },
    onStatus: (status) => {
      onStatus(status)
      listener.onStatus()
    }
  }).pipe(Scope.provide(scope))
  endpoint = {
    name: nameOf(settings.base),
    weight,
    trunk,
    health,
    now: () => SteadyTime.nowOf(clock),
    close: Scope.close(scope, Exit.void),
    waiting: new Map(),
    credit: 0
  }
  return endpoint
})

export const isUp = ({ health }: AriEndpoint): boolean => health.status()._tag === "Up"

/** A call may leave through it now, as far as can be known before. */
export const takesCalls = (endpoint: AriEndpoint): boolean => endpoint.weight > 0 && isUp(endpoint) && endpoint.health.admits()

/** It is busy with requests, or does not answer them: the next goes elsewhere if it can. */
export const isSlow = ({ now, waiting }: AriEndpoint): boolean => {
  const [since = Number.POSITIVE_INFINITY] = waiting.values()
  return waiting.size >= MOST_WAITING || now() - since >= SLOW_MILLIS
}

/** `Unsent`: nothing left, so another may take the call. `Failed`: it left, or is not to leave at all. */
export type Passage =
  | { readonly _tag: "Placed"; readonly providerCallId: string }
  | { readonly _tag: "Unsent"; readonly refusal: OriginateRefused }
  | { readonly _tag: "Failed"; readonly error: OriginateRefused | OriginateDoubtful; readonly hasLeft: boolean }

interface Way {
  /** Called when the first byte is about to be written. */
  readonly left: () => void
  readonly hasAnother: () => boolean
}

/** Once this has returned, or was interrupted, the request does not leave here any more, unless it has. */
export const placeThrough = Effect.fnUntraced(function* (endpoint: AriEndpoint, request: OriginateRequest, way: Way) {
  const { health, name, now, trunk, waiting } = endpoint
  const { callId } = request
  const journey: { step: "waiting" | "left" | "over"; isHeldBack: boolean } = { step: "waiting", isHeldBack: false }
  health.admit(callId)
  const leave = () => {
    if (journey.step !== "waiting") return false
    // It has failed others while this one waited for a connection.
    journey.isHeldBack = !health.mayLeave(callId)
    if (journey.isHeldBack || !request.leave(name)) return false
    journey.step = "left"
    way.left()
    health.left(callId)
    waiting.set(callId, now())
    return true
  }
  // In one step with the decision, because the connection may stand in the next moment.
  const impatience = Effect.suspend(() => {
    if (journey.step !== "waiting" || !way.hasAnother()) return Effect.never
    journey.step = "over"
    return Effect.fail(tooSlow)
  })
  const passage = yield* Effect.raceFirst(trunk.originate({ ...request, leave }), Effect.delay(impatience, CONNECT_MILLIS)).pipe(
    Effect.match({
      onFailure: (error) =>
        journey.step === "left" ? afterLeaving(endpoint, callId, error) : beforeLeaving(endpoint, callId, error, journey),
      onSuccess: ({ providerCallId }): Passage => {
        health.reached(callId)
        return { _tag: "Placed", providerCallId }
      }
    }),
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        if (journey.step === "left") health.doubted(callId, { answered: false, detail: "no reply", retryAfterMillis: undefined })
        else health.dismiss(callId)
      })
    ),
    Effect.ensuring(
      Effect.sync(() => {
        waiting.delete(callId)
        if (journey.step === "waiting") journey.step = "over"
      })
    )
  )
  return passage
})

const tooSlow = new OriginateRefused({ reason: "unreachable", detail: "no connection in time" })

const beforeLeaving = (
  endpoint: AriEndpoint,
  callId: CallId,
  error: OriginateRefused | OriginateDoubtful,
  { isHeldBack }: { readonly isHeldBack: boolean }
): Passage => {
  const { health } = endpoint
  const isRefused = error._tag === "OriginateRefused"
  if (isRefused && error.reason === "unreachable" && isUp(endpoint)) health.unreachable(callId, error.detail)
  else health.dismiss(callId)
  return isRefused && (isHeldBack || error.reason === "unreachable")
    ? { _tag: "Unsent", refusal: isHeldBack ? new OriginateRefused({ reason: "unreachable", detail: "it takes no calls now" }) : error }
    : { _tag: "Failed", error, hasLeft: false }
}

const afterLeaving = ({ health }: AriEndpoint, callId: CallId, error: OriginateRefused | OriginateDoubtful): Passage => {
  const { detail, retryAfterMillis } = error
  if (error._tag === "OriginateDoubtful") health.doubted(callId, { answered: error.status !== undefined, detail, retryAfterMillis })
  else if (error.reason === "number_refused") health.reached(callId)
  else if (error.reason === "rate_limited") health.rateLimited(callId, retryAfterMillis, detail)
  // Whatever only a person can repair there says nothing of the others.
  else health.unreachable(callId, detail)
  return { _tag: "Failed", error, hasLeft: true }
}

/** While a trunk has another endpoint, its own log says nothing of this one. */
const logChanges = Effect.fnUntraced(function* (health: TrunkHealth) {
  const log = Effect.runForkWith(yield* Effect.context())
  let told = ""
  let isTroubled = false
  const look = () => {
    const status: TrunkStatus = health.status()
    const words = status._tag === "Down" ? `${status.reason}: ${status.detail}` : status._tag
    if (status._tag !== "Connecting" && words !== told) {
      told = words
      log(
        status._tag === "Up" ? Effect.logInfo("an endpoint of a trunk is up") : Effect.logWarning("an endpoint of a trunk is down", status)
      )
    }
    const trouble = health.trouble()
    if (isTroubled === (trouble !== undefined)) return
    isTroubled = trouble !== undefined
    log(
      trouble === undefined
        ? Effect.logInfo("an endpoint of a trunk takes calls again")
        : Effect.logWarning("an endpoint of a trunk does not take calls as it should", { reason: trouble.kind, detail: trouble.detail })
    )
  }
  yield* Effect.acquireRelease(
    Effect.sync(() => health.watch(look)),
    (unwatch) => Effect.sync(unwatch)
  )
})
