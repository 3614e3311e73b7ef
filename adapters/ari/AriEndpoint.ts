/**
 * One of several Asterisks behind a configuration: its trunk, its health, and the path of a call through it. An Asterisk that fails is left
 * alone for a while and then tried with one call at a time, like a trunk with a single Asterisk (`TrunkHealth`).
 */
import { Clock, Effect, Exit, Scope } from "effect"
import type { CallId } from "#core/Id.ts"
import {
  type OriginateDoubtful,
  OriginateRefused,
  type OriginateRequest,
  type Trunk,
  type TrunkContext,
  type TrunkStatus
} from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { makeHealth, type TrunkHealth } from "#core/provider/TrunkHealth.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { openTrunk, type TrunkSettings } from "./AriTrunk.ts"
import { nameOf } from "./Asterisk.ts"

/** How many requests may wait for a reply here while another Asterisk could take the next one. */
const MOST_WAITING = 12
/** Once a request has waited this long for its reply, the next one should go elsewhere. */
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
  /** Steady time of this process. */
  readonly now: () => SteadyTime.SteadyMillis
  readonly close: Effect.Effect<void>
  /** Requests that wait for a reply, with when they left; oldest first. */
  readonly waiting: Map<CallId, SteadyTime.SteadyMillis>
  /** Its balance in the weighted round-robin. */
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

/** Whether a call may leave through it now, as far as that is known beforehand. */
export const takesCalls = (endpoint: AriEndpoint): boolean => endpoint.weight > 0 && isUp(endpoint) && endpoint.health.admits()

/** It has many requests waiting, or does not answer them: the next one should go elsewhere. */
export const isSlow = ({ now, waiting }: AriEndpoint): boolean => {
  const [since = Number.POSITIVE_INFINITY] = waiting.values()
  return waiting.size >= MOST_WAITING || now() - since >= SLOW_MILLIS
}

/** `Unsent`: nothing left, so another Asterisk may take the call. `Failed`: the request left, or must not leave at all. */
export type Passage =
  | { readonly _tag: "Placed"; readonly providerCallId: string }
  | { readonly _tag: "Unsent"; readonly refusal: OriginateRefused }
  | { readonly _tag: "Failed"; readonly error: OriginateRefused | OriginateDoubtful; readonly hasLeft: boolean }

interface Way {
  /** Called right before the first byte is written. */
  readonly left: () => void
  readonly hasAnother: () => boolean
}

/** Once this has returned or was interrupted, the request does not leave here any more, unless it has left already. */
export const placeThrough = Effect.fnUntraced(function* (endpoint: AriEndpoint, request: OriginateRequest, way: Way) {
  const { health, name, now, trunk, waiting } = endpoint
  const { callId } = request
  const journey: { step: "waiting" | "left" | "over"; isHeldBack: boolean } = { step: "waiting", isHeldBack: false }
  health.admit(callId)
  const leave = () => {
    if (journey.step !== "waiting") return false
    // It may have failed other calls while this one waited for a connection.
    journey.isHeldBack = !health.mayLeave(callId)
    if (journey.isHeldBack || !request.leave(name)) return false
    journey.step = "left"
    way.left()
    health.left(callId)
    waiting.set(callId, now())
    return true
  }
  // Deciding and failing are one step, because the connection may be established at the next moment.
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
    ? {
        _tag: "Unsent",
        refusal: isHeldBack ? new OriginateRefused({ reason: "unreachable", detail: "it does not take calls now" }) : error
      }
    : { _tag: "Failed", error, hasLeft: false }
}

const afterLeaving = ({ health }: AriEndpoint, callId: CallId, error: OriginateRefused | OriginateDoubtful): Passage => {
  const { detail, retryAfterMillis } = error
  if (error._tag === "OriginateDoubtful") health.doubted(callId, { answered: error.status !== undefined, detail, retryAfterMillis })
  else if (error.reason === "number_refused") health.reached(callId)
  else if (error.reason === "rate_limited") health.rateLimited(callId, retryAfterMillis, detail)
  // An error that only a person can fix says nothing about the other endpoints.
  else health.unreachable(callId, detail)
  return { _tag: "Failed", error, hasLeft: true }
}

/** Logs the changes of one endpoint: while another one is up, the trunk's own log does not mention them. */
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
