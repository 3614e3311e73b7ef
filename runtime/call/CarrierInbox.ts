/**
 * Takes what carriers tell us. The address is checked first, then the carrier's signature over the raw bytes; what remains is stored before it is
 * acknowledged, and only then does the call hear of it. A repeat is acknowledged and changes nothing.
 *
 * What is stored is the effect: a process that dies before the call has heard of it leaves it to the next one, which tells it again. In a process that
 * lives, the call hears of it even if the carrier hangs up meanwhile, or if the database's reply is lost and only a repeat shows that it is stored.
 */
import { Clock, Effect, Fiber, FiberMap, Layer, Option, Result } from "effect"
import { createHash } from "node:crypto"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CallbackAddress } from "#core/provider/CallbackAddress.ts"
import { type CarrierAnswer, type CarrierCall, CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import { CarrierDeliveries, type CarrierDelivery, type StoredDelivery } from "#core/provider/CarrierDeliveries.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { CallbackAddresses } from "#runtime/trunk/CallbackAddresses.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { CallSupervisor } from "./CallSupervisor.ts"
import { makeGathering } from "#runtime/postgres/Gathering.ts"
import { RecentIds } from "./RecentIds.ts"

/** For this long, a repeat can show that a delivery was stored although the database's reply was lost. */
const UNSURE_MILLIS = 3_600_000
/** Leaves database connections to everything else. */
const STATEMENTS_AT_ONCE = 4

const answer = (status: CarrierAnswer["status"], body = ""): CarrierAnswer => ({ body, mediaType: undefined, status })
const forbidden = answer(403)
const unreadable = answer(400)
const later = answer(503)
const acknowledged = answer(200)

export const layer = Layer.effect(
  CarrierCallbacks,
  Effect.gen(function* () {
    const deliveries = yield* CarrierDeliveries
    const inbox: Inbox = {
      addresses: yield* CallbackAddresses,
      attempts: yield* AttemptStore,
      deliveries,
      keeping: yield* FiberMap.make<string, CarrierAnswer, never>(),
      metrics: yield* CurrentCallMetrics,
      pool: yield* TrunkPool,
      store: yield* makeGathering({ atOnce: STATEMENTS_AT_ONCE, write: deliveries.store }),
      supervisor: yield* CallSupervisor,
      unsure: new RecentIds(yield* Clock.Clock, UNSURE_MILLIS)
    }
    return { take: (call) => take(inbox, call) }
  })
)

interface Inbox {
  readonly addresses: (typeof CallbackAddresses)["Service"]
  readonly attempts: AttemptStore["Service"]
  readonly deliveries: CarrierDeliveries["Service"]
  /** Deliveries that are being stored. Copies that arrive meanwhile share the result. */
  readonly keeping: FiberMap.FiberMap<string, CarrierAnswer, never>
  readonly metrics: CallMetrics
  readonly pool: TrunkPool["Service"]
  /** Stores a delivery, together with others of its configuration. */
  readonly store: (configurationId: TelephonyConfigId, delivery: CarrierDelivery) => Effect.Effect<StoredDelivery>
  readonly supervisor: CallSupervisor["Service"]
  /** Deliveries that may be stored, and of which their calls have not heard. */
  readonly unsure: RecentIds
}

const take = Effect.fnUntraced(
  function* (inbox: Inbox, call: CarrierCall) {
    const address = inbox.addresses.open(call.address)
    const trunk = address === undefined ? undefined : yield* inbox.pool.get(address.configurationId)
    if (address === undefined || trunk === undefined) return forbidden
    const callback = yield* callbackOf(inbox, address, call)
    // The secret that the call was placed with may have been replaced since.
    const placedThrough = address.callId === undefined ? undefined : inbox.supervisor.find(address.callId)?.trunk
    const read = Result.try(() => placedThrough?.read(callback) ?? trunk.read(callback))
    if (Result.isFailure(read)) {
      // Not its message, which may quote what the carrier sent.
      const error = read.failure instanceof Error ? read.failure.name : "unknown"
      yield* Effect.logError("a carrier's callback could not be read", { error, kind: address.kind })
      return unreadable
    }
    if (read.success === undefined) {
      countRefused(inbox, address)
      yield* Effect.logWarning("a carrier's callback is refused: its signature is wrong", { kind: address.kind })
      return forbidden
    }
    const keeping = yield* begun(inbox, { address, callback, read: read.success, trunk })
    if (read.success.reply === undefined) return yield* Fiber.join(keeping)
    // A document is waited for while the callee listens. All that it comes with is that the callee has answered, which a look tells as well.
    const { body, mediaType } = read.success.reply
    return { body, mediaType, status: 200 } satisfies CarrierAnswer
  },
  (taking, _, { address }) =>
    taking.pipe(
      Effect.catchCause((cause) => Effect.as(Effect.logWarning("a carrier's callback could not be taken yet", cause), later)),
      Effect.annotateLogs({ telephonyConfigurationId: address.configuration })
    )
)

const callbackOf = Effect.fnUntraced(function* (
  { addresses, attempts, supervisor }: Inbox,
  address: CallbackAddress,
  { body, headers, method, query }: CarrierCall
) {
  const { callId, kind } = address
  const live = callId === undefined ? undefined : supervisor.find(callId)
  const left = callId === undefined || live !== undefined ? [] : yield* attempts.find([callId])
  const url = addresses.urlOf?.(address) ?? ""
  const callback: Callback = {
    at: yield* Clock.currentTimeMillis,
    body,
    call: live?.ref ?? left[0]?.call,
    headers,
    isWanted: live !== undefined && !live.isOver,
    kind,
    mediaUrl: callId && addresses.mediaUrlOf?.(callId),
    method,
    url: query === "" ? url : `${url}?${query}`
  }
  return callback
})

const countRefused = ({ metrics }: Inbox, { configurationId }: CallbackAddress): void => {
  metrics.callbacksRefused.set(configurationId, (metrics.callbacksRefused.get(configurationId) ?? 0) + 1)
}

interface Taken {
  readonly address: CallbackAddress
  readonly callback: Callback
  readonly read: CallbackRead
  readonly trunk: LiveTrunk
}

/** Runs to its end whatever becomes of the carrier's connection. */
const begun = (inbox: Inbox, taken: Taken): Effect.Effect<Fiber.Fiber<CarrierAnswer>> => {
  const { address, callback, read } = taken
  const digest = createHash("sha256").update(callback.url).update("\n").update(callback.body).digest()
  const delivery = read.deliveryId ?? read.nonce ?? digest.toString("base64url")
  const key = [address.configurationId, address.callId, digest.toString("base64url"), delivery].join(" ")
  return Effect.suspend(() =>
    Option.match(FiberMap.getUnsafe(inbox.keeping, key), {
      onNone: () => FiberMap.run(inbox.keeping, key, keep(inbox, taken, { delivery, digest })),
      onSome: Effect.succeed
    })
  )
}

interface Identity {
  readonly delivery: string
  /** Of its address and body. */
  readonly digest: Uint8Array
}

/** Stores the delivery and tells the calls that it is about. */
const keep = Effect.fnUntraced(
  function* (inbox: Inbox, { address, read, trunk }: Taken, { delivery, digest }: Identity) {
    const { configurationId } = address
    const byCall = yield* eventsByCall(inbox, address, read)
    for (const [callId, events] of byCall) {
      const key = `${configurationId} ${callId} ${delivery}`
      const known = yield* Effect.onError(inbox.store(configurationId, { callId, configurationId, delivery, digest, events }), () =>
        Effect.sync(() => inbox.unsure.add(key))
      )
      if (known === "altered" && read.nonce !== undefined) countRefused(inbox, address)
      if (known === "unknown" || (known === "altered" && read.nonce !== undefined)) return forbidden
      const isUnheard = inbox.unsure.remove(key)
      if ((known !== "first" && !isUnheard) || callId === undefined) continue
      // What a call cost is recorded along with the delivery.
      for (const event of events) if (event._tag !== "Billed") trunk.hear(callId, event)
    }
    return acknowledged
  },
  (keeping, _, { address: { configurationId } }) =>
    keeping.pipe(
      Effect.catchCause((cause) => Effect.as(Effect.logWarning("a carrier's callback could not be stored yet", cause), later)),
      Effect.annotateLogs({ telephonyConfigurationId: configurationId })
    )
)

/** Events of calls that are not ours are left out. A delivery without any is stored all the same, so that a replay of its nonce is known. */
const eventsByCall = Effect.fnUntraced(function* (
  { deliveries }: Inbox,
  { callId, configurationId }: CallbackAddress,
  { events }: CallbackRead
) {
  const byCall = new Map<CallId | undefined, Array<TrunkEvent>>([[callId, []]])
  for (const { call, event } of events) {
    const about =
      call === undefined ? callId : "callId" in call ? call.callId : yield* deliveries.callOf(configurationId, call.providerCallId)
    if (about === undefined) continue
    const told = byCall.get(about)
    if (told === undefined) byCall.set(about, [event])
    else told.push(event)
  }
  return byCall
})
