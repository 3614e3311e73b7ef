/**
 * Takes callbacks from carriers. The address is checked first, then the carrier's signature over the raw bytes; then the delivery is stored,
 * acknowledged, and passed to its call. A repeat is acknowledged and changes nothing.
 *
 * If a process dies after storing a delivery but before its call has heard it, the next process passes it on. In a living process, the call
 * hears it even if the carrier hangs up meanwhile, or if the database's reply is lost and only a repeat shows that it was stored.
 */
import { Clock, Effect, Fiber, FiberMap, Layer, Option, Result } from "effect"
import { createHash } from "node:crypto"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import type { CallId, TelephonyConfigId } from "#core/Id.ts"
import type { Callback, CallbackRead } from "#core/provider/Callback.ts"
import type { CallbackAddress } from "#core/provider/CallbackAddress.ts"
import { type CarrierAnswer, type CarrierCall, CarrierCallbacks, PASSED_ON } from "#core/provider/CarrierCallbacks.ts"
import { CarrierDeliveries, type CarrierDelivery, type StoredDelivery } from "#core/provider/CarrierDeliveries.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import { CallbackAddresses, type OpenedAddress, PROBED_KIND } from "#runtime/trunk/CallbackAddresses.ts"
import { type LiveTrunk, TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { type CallMetrics, CurrentCallMetrics } from "#runtime/metrics/CallMetrics.ts"
import { Charge } from "#runtime/lock/Charge.ts"
import { CallsElsewhere } from "./CallsElsewhere.ts"
import { CallSupervisor } from "./CallSupervisor.ts"
import { makeGathering } from "#runtime/postgres/Gathering.ts"
import { otherEngineOf } from "./otherEngine.ts"
import { passOn } from "./passOn.ts"
import { RecentIds } from "./RecentIds.ts"
import { RefusedRequests } from "./RefusedRequests.ts"

/** How long a repeat can show that a delivery was stored although the database's reply was lost. */
const UNSURE_MILLIS = 3_600_000
/** Leaves database connections for everything else. */
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
    const clock = yield* Clock.Clock
    const inbox: Inbox = {
      addresses: yield* CallbackAddresses,
      attempts: yield* AttemptStore,
      charge: yield* Charge,
      clock,
      deliveries,
      elsewhere: yield* CallsElsewhere,
      keeping: yield* FiberMap.make<string, CarrierAnswer, never>(),
      metrics: yield* CurrentCallMetrics,
      pool: yield* TrunkPool,
      refused: yield* RefusedRequests,
      store: yield* makeGathering({ atOnce: STATEMENTS_AT_ONCE, write: deliveries.store }),
      supervisor: yield* CallSupervisor,
      unsure: new RecentIds(clock, UNSURE_MILLIS)
    }
    return { take: (call) => take(inbox, call) }
  })
)

interface Inbox {
  readonly addresses: (typeof CallbackAddresses)["Service"]
  readonly attempts: AttemptStore["Service"]
  readonly charge: Charge["Service"]
  readonly clock: Clock.Clock
  readonly deliveries: CarrierDeliveries["Service"]
  readonly elsewhere: CallsElsewhere["Service"]
  /** Deliveries being stored. Copies that arrive meanwhile share the result. */
  readonly keeping: FiberMap.FiberMap<string, CarrierAnswer, never>
  readonly metrics: CallMetrics
  readonly pool: TrunkPool["Service"]
  readonly refused: (typeof RefusedRequests)["Service"]
  /** Stores a delivery, together with others of its configuration. */
  readonly store: (configurationId: TelephonyConfigId, delivery: CarrierDelivery) => Effect.Effect<StoredDelivery>
  readonly supervisor: CallSupervisor["Service"]
  /** Deliveries that may have been stored but that their calls have not heard. */
  readonly unsure: RecentIds
}

const take = Effect.fnUntraced(
  function* (inbox: Inbox, call: CarrierCall) {
    const address = inbox.addresses.open(call.address)
    if (address?.kind === PROBED_KIND) return answer(200, inbox.addresses.proofOf(call.query))
    const trunk = address === undefined ? undefined : yield* inbox.pool.get(address.configurationId)
    if (address === undefined || trunk === undefined) return forbidden
    const { callId } = address
    const elsewhere = callId && otherEngineOf(inbox, callId, call.headers[PASSED_ON])
    if (elsewhere !== undefined) return yield* passOn(elsewhere, call)
    const live = callId === undefined ? undefined : inbox.supervisor.find(callId)
    const left = callId === undefined || live !== undefined ? undefined : (yield* inbox.attempts.find([callId]))[0]?.call
    const callback = callbackOf(inbox, address, call, live, left)
    // The secret used when the call was placed may have been replaced since.
    const read = Result.try(() => live?.trunk.read(callback) ?? trunk.read(callback))
    if (Result.isFailure(read)) {
      // The message is not logged: it may quote what the carrier sent.
      const error = read.failure instanceof Error ? read.failure.name : "unknown"
      yield* Effect.logError("a carrier's callback could not be read", { error, ...said(address), kind: address.kind })
      return unreadable
    }
    if (read.success === undefined) {
      countRefused(inbox, address)
      inbox.refused(live, "callback")
      yield* Effect.logWarning("a carrier's callback is refused: its signature is wrong", { ...said(address), kind: address.kind })
      return forbidden
    }
    const keeping = yield* begun(inbox, { address, callback, read: read.success, trunk })
    if (read.success.reply === undefined) return yield* Fiber.join(keeping)
    // The callee is listening while the carrier waits for a document, so the reply does not wait for storage. The only event that comes with it
    // is the answer, which a lookup reports as well.
    const { body, mediaType } = read.success.reply
    return { body, mediaType, status: 200 } satisfies CarrierAnswer
  },
  (taking, _, { address: { configuration } }) =>
    Effect.catchCause(taking, (cause) => {
      const log = Effect.logWarning("a carrier's callback could not be taken yet", cause, { telephonyConfigurationId: configuration })
      return Effect.as(log, later)
    })
)

/** Annotates each log entry individually: few callbacks log anything. */
const said = ({ configurationId }: CallbackAddress) => ({ telephonyConfigurationId: configurationId })

/** `left`: a call that is not live here but not over either. */
const callbackOf = (
  { addresses, clock }: Inbox,
  { callId, kind, url }: OpenedAddress,
  { body, headers, method, query }: CarrierCall,
  live: ReturnType<CallSupervisor["Service"]["find"]>,
  left: CallRef | undefined
): Callback => ({
  at: clock.currentTimeMillisUnsafe(),
  body,
  call: live?.ref ?? left,
  headers,
  isWanted: live !== undefined && !live.isOver,
  kind,
  // Computed only when read, because few callbacks are answered with it.
  get mediaUrl() {
    return callId && addresses.mediaUrlOf?.(callId)
  },
  method,
  url: query === "" ? url : `${url}?${query}`
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

/** Runs to completion, whatever happens to the carrier's connection. */
const begun = (inbox: Inbox, taken: Taken): Effect.Effect<Fiber.Fiber<CarrierAnswer>> => {
  const { address, callback, read } = taken
  const digest = createHash("sha256").update(callback.url).update("\n").update(callback.body).digest()
  const delivery = read.deliveryId ?? read.nonce ?? digest.toString("base64url")
  const key = `${address.configurationId} ${address.callId ?? ""} ${digest.toString("base64url")} ${delivery}`
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

/** Stores the delivery and passes its events to their calls. */
const keep = Effect.fnUntraced(
  function* (inbox: Inbox, { address, read, trunk }: Taken, { delivery, digest }: Identity) {
    const { elsewhere } = inbox
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
      // The cost is recorded along with the delivery.
      for (const event of events) if (event._tag !== "Billed" && !elsewhere.tell(callId, configurationId, event)) trunk.hear(callId, event)
    }
    return acknowledged
  },
  (keeping, _, { address }) =>
    Effect.catchCause(keeping, (cause) =>
      Effect.as(Effect.logWarning("a carrier's callback could not be stored yet", cause, said(address)), later)
    )
)

/** Events of calls that are not ours are left out. A delivery without events is stored anyway, so that a replay of its nonce is recognized. */
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
