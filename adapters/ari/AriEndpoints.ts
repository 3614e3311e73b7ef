/**
 * Several Asterisks behind one configuration, as one trunk. New calls are distributed by weight among those that are up and take calls. A call
 * belongs for good to the one that it left through: only that one is asked for it, reports its events and hangs it up. A request that certainly
 * has not left is tried through another one at once; a request that has left never is. If it is not known which one a call left through, it is
 * looked for through all of them, and is gone only if all of them say so: one that does not answer leaves it in doubt.
 */
import { Effect } from "effect"
import type { CallId } from "#core/Id.ts"
import { TransferRefused } from "#core/provider/Transfer.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import {
  type Endpoint,
  OriginateDoubtful,
  OriginateRefused,
  type OriginateRequest,
  isAlive,
  type Look,
  type Trunk,
  type TrunkContext,
  type TrunkStatus,
  type UnseenRequest
} from "#core/provider/Adapter.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import {
  type AriEndpoint,
  type EndpointSettings,
  isSlow,
  isUp,
  openEndpoint,
  type Passage,
  placeThrough,
  takesCalls
} from "./AriEndpoint.ts"
import { AriPlaces } from "./AriPlaces.ts"
import { providerError } from "./Asterisk.ts"

/** The call left through an Asterisk that the configuration no longer names. */
interface Former {
  readonly name: string
  readonly trunk: undefined
}
type Place = AriEndpoint | Former

interface Fleet {
  readonly endpoints: ReadonlyArray<AriEndpoint>
  readonly places: AriPlaces<Place>
}

export const openEndpoints = Effect.fnUntraced(function* (all: ReadonlyArray<EndpointSettings>, context: TrunkContext) {
  const endpoints: Array<AriEndpoint> = []
  const fleet: Fleet = { endpoints, places: new AriPlaces() }
  const tell = () => {
    if (endpoints.length === all.length) context.onStatus(statusOfAll(endpoints))
  }
  const listener = {
    onEvent: (endpoint: AriEndpoint, callId: string, event: TrunkEvent) => {
      if (hear(fleet, endpoint, callId, event)) context.onEvent(callId, event)
    },
    onStatus: tell
  }
  for (const one of all) endpoints.push(yield* openEndpoint(one, context, listener))
  tell()
  return trunkOf(fleet)
})

const trunkOf = (fleet: Fleet): Trunk => {
  const { endpoints } = fleet
  return {
    originate: (request) => originate(fleet, request),
    hangup: (call, cause) => Effect.flatMap(locate(fleet, "hangup", call), (found) => found?.trunk.hangup(call, cause) ?? Effect.void),
    lookup: (call) => lookup(fleet, call),
    openMedia: (call) =>
      Effect.flatMap(
        located(fleet, "openMedia", call),
        ({ trunk }) => trunk.openMedia?.(call) ?? Effect.fail(providerError("openMedia", "it has no audio"))
      ),
    sendDtmf: (call, digits) =>
      Effect.flatMap(
        located(fleet, "sendDtmf", call),
        ({ trunk }) => trunk.sendDtmf?.(call, digits) ?? Effect.fail(providerError("sendDtmf", "it cannot send keys"))
      ),
    transfer: (call, request) =>
      Effect.flatMap(
        Effect.mapError(located(fleet, "transfer", call), ({ detail }) => new TransferRefused({ detail })),
        ({ trunk }) => trunk.transfer?.(call, request) ?? Effect.fail(new TransferRefused({ detail: "it cannot transfer" }))
      ),
    adopt: (call) => {
      const place = call.endpoint === undefined ? undefined : learn(fleet, call.callId, call.endpoint)
      for (const { trunk } of place?.trunk === undefined ? endpoints : [place]) trunk.adopt(call)
    },
    mayAppear: (request) => mayAppear(fleet, request),
    reconnect: () => {
      for (const { trunk } of endpoints) trunk.reconnect?.()
    },
    endpoints: () => endpoints.map(shown),
    statusOf: (callId) => holderOf(fleet, callId)?.health.status() ?? statusOfAll(endpoints),
    retire: Effect.suspend(() =>
      Effect.forEach(
        endpoints.filter((endpoint) => !isUp(endpoint)),
        ({ close }) => close,
        { discard: true }
      )
    )
  }
}

const shown = ({ health, name }: AriEndpoint): Endpoint => ({ name, status: health.status(), trouble: health.trouble()?.detail })

/** The trunk is up while any of them is. */
const statusOfAll = (endpoints: ReadonlyArray<AriEndpoint>): TrunkStatus => {
  if (endpoints.some(isUp)) return { _tag: "Up" }
  const downs = endpoints.flatMap(({ health, name }) => {
    const status = health.status()
    return status._tag === "Down" ? [{ ...status, detail: `${name}: ${status.detail}` }] : []
  })
  const [first] = downs
  if (first === undefined || downs.length < endpoints.length) return { _tag: "Connecting" }
  const isOneReason = downs.every(({ reason }) => reason === first.reason)
  return { _tag: "Down", reason: isOneReason ? first.reason : "unreachable", detail: downs.map(({ detail }) => detail).join("; ") }
}

/** Returns false if the event is for an id that belongs to another endpoint's call. */
const hear = ({ places }: Fleet, endpoint: AriEndpoint, callId: string, event: TrunkEvent): boolean => {
  const place = places.get(callId)
  if (place?.trunk !== undefined && place !== endpoint) return false
  if (place === undefined) places.seen(callId, endpoint)
  // It left through an endpoint that is no longer configured: this seems to be the same Asterisk under another name.
  else if (place !== endpoint) places.put(callId, endpoint)
  if (event._tag === "HungUp") places.ended(callId)
  endpoint.health.heard(callId, event)
  return true
}

/** Records where an earlier process or session says that the call left. */
const learn = ({ endpoints, places }: Fleet, callId: CallId, name: string): Place => {
  const known = places.get(callId)
  if (known?.trunk !== undefined) return known
  const place = endpoints.find((endpoint) => endpoint.name === name) ?? { name, trunk: undefined }
  places.put(callId, place)
  return place
}

const holderOf = ({ places }: Fleet, callId: string): AriEndpoint | undefined => {
  const place = places.get(callId)
  return place?.trunk === undefined ? undefined : place
}

const originate = Effect.fnUntraced(function* (fleet: Fleet, request: OriginateRequest) {
  const tried = new Set<AriEndpoint>()
  let refusal: OriginateRefused | undefined
  for (let next = choose(fleet, tried); next !== undefined; next = choose(fleet, tried)) {
    const endpoint = next
    tried.add(endpoint)
    const passage: Passage = yield* placeThrough(endpoint, request, {
      hasAnother: () => fleet.endpoints.some((other) => !tried.has(other) && takesCalls(other)),
      left: () => fleet.places.put(request.callId, endpoint)
    })
    if (passage._tag === "Placed") return { providerCallId: passage.providerCallId }
    if (passage._tag === "Failed") return yield* passage.hasLeft ? failure(fleet, endpoint, request.callId, passage.error) : passage.error
    refusal = new OriginateRefused({ reason: "unreachable", detail: `${endpoint.name}: ${passage.refusal.detail}` })
  }
  return yield* refusal ?? noneTakesCalls(fleet)
})

const noneTakesCalls = ({ endpoints }: Fleet): OriginateRefused => {
  if (endpoints.every(({ weight }) => weight === 0))
    return new OriginateRefused({ reason: "misconfigured", detail: "every ARI endpoint has the weight 0" })
  const troubles = endpoints.flatMap(({ health, name }) => {
    const detail = health.trouble()?.detail
    return detail === undefined ? [] : [`${name}: ${detail}`]
  })
  return new OriginateRefused({ reason: "unreachable", detail: ["no ARI endpoint takes calls", ...troubles].join("; ") })
}

/** Smooth weighted round-robin: each able endpoint earns its weight, the one with the most credit takes the call and pays for all. */
const choose = ({ endpoints }: Fleet, tried: ReadonlySet<AriEndpoint>): AriEndpoint | undefined => {
  const able = endpoints.filter((endpoint) => !tried.has(endpoint) && takesCalls(endpoint))
  const quick = able.filter((endpoint) => !isSlow(endpoint))
  const among = quick.length > 0 ? quick : able
  let chosen: AriEndpoint | undefined
  for (const endpoint of among) {
    endpoint.credit += endpoint.weight
    if (chosen === undefined || endpoint.credit > chosen.credit) chosen = endpoint
  }
  if (chosen !== undefined) chosen.credit -= among.reduce((sum, { weight }) => sum + weight, 0)
  return chosen
}

/** The failure as reported for the trunk: it says nothing about the trunk while another endpoint is healthy. */
const failure = (
  { endpoints, places }: Fleet,
  endpoint: AriEndpoint,
  callId: CallId,
  error: OriginateRefused | OriginateDoubtful
): OriginateRefused | OriginateDoubtful => {
  if (error._tag === "OriginateRefused") {
    places.ended(callId)
    if (error.reason === "number_refused") return error
  }
  const isWell = (other: AriEndpoint) => other.weight > 0 && isUp(other) && other.health.trouble() === undefined
  if (!endpoints.some((other) => other !== endpoint && isWell(other))) return error
  const detail = `${endpoint.name}: ${error.detail}`
  if (error._tag === "OriginateRefused") return new OriginateRefused({ reason: "unreachable", elsewhere: true, detail })
  return new OriginateDoubtful({ ...(error.status === undefined ? {} : { status: error.status }), elsewhere: true, detail })
}

const nowhere: Look = { presence: "gone", told: [] }

const lookup = Effect.fnUntraced(function* (fleet: Fleet, call: CallRef) {
  const holder = holderOf(fleet, call.callId)
  if (holder !== undefined) return yield* holder.trunk.lookup(call)
  return (yield* search(fleet, "lookup", call))?.look ?? nowhere
})

/** Undefined: no endpoint has the call. */
const locate = (fleet: Fleet, operation: string, call: CallRef) =>
  Effect.suspend(() => {
    const holder = holderOf(fleet, call.callId)
    return holder === undefined ? Effect.map(search(fleet, operation, call), (found) => found?.endpoint) : Effect.succeed(holder)
  })

const located = (fleet: Fleet, operation: string, call: CallRef) =>
  Effect.flatMap(locate(fleet, operation, call), (found) =>
    found === undefined ? Effect.fail(providerError(operation, "no endpoint has this call")) : Effect.succeed(found)
  )

/** Returns undefined only if all of them say that the call is not there. */
const search = Effect.fnUntraced(function* ({ endpoints, places }: Fleet, operation: string, call: CallRef) {
  const { callId } = call
  const looks = yield* Effect.forEach(
    endpoints,
    (endpoint) => Effect.map(Effect.result(endpoint.trunk.lookup(call)), (look) => ({ endpoint, look })),
    { concurrency: "unbounded" }
  )
  for (const { endpoint, look } of looks) {
    if (look._tag === "Failure" || !isAlive(look.success.presence)) continue
    places.put(callId, endpoint)
    return { endpoint, look: look.success }
  }
  for (const { endpoint, look } of looks)
    if (look._tag === "Failure") return yield* providerError(operation, `${endpoint.name}: ${look.failure.detail}`)
  const former = places.get(callId)
  if (former !== undefined && former.trunk === undefined)
    return yield* providerError(operation, `it left through ${former.name}, which the configuration no longer names`)
  return undefined
})

const mayAppear = (fleet: Fleet, request: UnseenRequest): boolean => {
  const { callId, endpoint } = request.call
  const place = endpoint === undefined ? fleet.places.get(callId) : learn(fleet, callId, endpoint)
  if (place !== undefined) return place.trunk?.mayAppear?.(request) ?? true
  // All of them are asked, because asking may make an endpoint send the request that settles the doubt.
  return fleet.endpoints.map(({ trunk }) => trunk.mayAppear?.(request) ?? true).includes(true)
}
