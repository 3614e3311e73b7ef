/** Single calls, outside of campaigns. They do not wait for other calls to end: without a free slot, the client is told so. */
import { Clock, Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { runName } from "#core/call/AttemptBeginning.ts"
import { CallNotPlaced, ConcurrencyExhausted, Dialer, MediaExhausted, type SingleCall } from "#core/call/Dialer.ts"
import { NumberOptedOut } from "#core/contact/OptOut.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { CallId, OrganizationId } from "#core/Id.ts"
import * as organizationSettings from "#core/organization/OrganizationSettingsStore.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { callerKey, Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"
import { awaitUp, type LiveTrunk, TrunkPool, whyDown } from "#runtime/trunk/TrunkPool.ts"
import type { Over } from "#core/call/Call.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import { CallJournal } from "./CallJournal.ts"
import { CallSupervisor } from "./CallSupervisor.ts"
import { willNeedAudio } from "./greeted.ts"
import type { Permit } from "./LiveCall.ts"

/** How long a client waits for a trunk that is being connected. */
const CONNECT_MILLIS = 5000
/** How long a client waits for the provider's reply; after that, the run shows how the call went on. */
const ACCEPT_MILLIS = 20_000
/** How long a client waits for claims of campaigns that are under way, which may give slots back. */
const CLAIMS_MILLIS = 5000
/** When a client may try again after all audio was in use. */
const MEDIA_AGAIN_SECONDS = 5

const always: Permit = { holds: () => true }

/** Why the trunk takes no call now, and when the client may try again. */
const whyResting = (trunk: LiveTrunk, now: SteadyTime.SteadyMillis): CallNotPlaced => {
  const trouble = trunk.trouble()
  const seconds = Math.max(1, Math.ceil(((trouble?.until ?? now) - now) / 1000))
  const reason =
    trouble?.kind === "limited" ? "The telephony provider asks for fewer calls" : "The telephony provider does not take calls just now"
  return new CallNotPlaced({ reason: `${reason}; try again in ${seconds} s.`, retryAfterSeconds: seconds })
}

const unsent = () =>
  new CallNotPlaced({
    reason: "The engine is so busy that it could not send the call in time, and sent nothing; try again in 1 s.",
    retryAfterSeconds: 1
  })

const whyOver = (trunk: LiveTrunk, how: Over, now: SteadyTime.SteadyMillis): CallNotPlaced => {
  if (how._tag === "Ended") return new CallNotPlaced({ reason: how.cause })
  if (how.reason !== "permit_lapsed") {
    const words = how.reason === "unreachable" || how.reason === "rate_limited" ? trunk.trouble()?.detail : trunk.refusal()
    return new CallNotPlaced({ reason: words === undefined ? how.reason : `${how.reason}: ${words}` })
  }
  if (!trunk.isCurrent()) return new CallNotPlaced({ reason: "The telephony configuration has just been changed; try again." })
  return trunk.trouble() === undefined ? unsent() : whyResting(trunk, now)
}

interface SingleCallServices {
  readonly chosen: AgentServices["Service"]
  readonly clock: Clock.Clock
  readonly journal: CallJournal["Service"]
  readonly local: LocalJournal["Service"]
  readonly lock: EngineLock["Service"]
  readonly media: MediaRoom["Service"]
  readonly nodeName: string
  readonly optOuts: RecentOptOuts["Service"]
  readonly pool: TrunkPool["Service"]
  readonly rate: CallRate["Service"]
  /** Calls are recorded, so that each needs audio. */
  readonly recordings: boolean
  readonly slots: Slots["Service"]
  readonly sql: SqlClient.SqlClient
  readonly supervisor: CallSupervisor["Service"]
  readonly versions: AgentVersions["Service"]
}

export const layer = Layer.effect(
  Dialer,
  Effect.gen(function* () {
    const { nodeName, recordings } = yield* Config
    const services: SingleCallServices = {
      chosen: yield* AgentServices,
      clock: yield* Clock.Clock,
      journal: yield* CallJournal,
      local: yield* LocalJournal,
      lock: yield* EngineLock,
      media: yield* MediaRoom,
      nodeName,
      optOuts: yield* RecentOptOuts,
      pool: yield* TrunkPool,
      rate: yield* CallRate,
      recordings,
      slots: yield* Slots,
      sql: yield* SqlClient.SqlClient,
      supervisor: yield* CallSupervisor,
      versions: yield* AgentVersions
    }
    return {
      dial: Effect.fn("Dialer.dial")(function* (call) {
        const trunk = yield* readyTrunk(services, call)
        const callId = call.callId ?? newCallId(services.clock.currentTimeMillisUnsafe())
        const from = call.from ?? trunk.callerIdFor(call.phoneNumber)
        const scopes = yield* scopesOf(services, call, trunk, from)
        const accepted = yield* Deferred.make<void, CallNotPlaced | NumberOptedOut>()
        // A client that goes away leaves neither a slot nor an attempt without a call behind.
        const attempt = yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            yield* admit(services, callId, trunk, scopes, restore)
            return yield* start(services, { ...call, callId, from }, trunk, accepted)
          })
        )
        yield* Effect.timeoutOption(Deferred.await(accepted), ACCEPT_MILLIS)
        return { callId, runId: attempt.runId, runName: runName(callId) }
      })
    }
  })
)

/** The call's trunk, once it is connected. */
const readyTrunk = Effect.fnUntraced(function* ({ local, lock, pool }: SingleCallServices, call: SingleCall) {
  if (!lock.isHeld()) return yield* new CallNotPlaced({ reason: "The engine is stopping, or does not reach its database." })
  const trunk = yield* pool.get(call.telephonyConfigurationId)
  if (trunk === undefined) return yield* new CallNotPlaced({ reason: "The provider of the telephony configuration is not installed." })
  if (trunk.status()._tag === "Down") trunk.trunk.reconnect?.()
  if (!(yield* awaitUp(trunk, CONNECT_MILLIS))) return yield* new CallNotPlaced({ reason: whyDown(trunk) ?? "It is not connected." })
  if (local.failure() !== undefined) return yield* new CallNotPlaced({ reason: "The engine cannot write its local journal." })
  return trunk
})

interface CallScopes {
  /** Limits of the caller ID, the organization and the telephony configuration. */
  readonly own: ReadonlyArray<SlotScope>
  /** The node's room for audio. */
  readonly audio: SlotScope
}

const scopesOf = Effect.fnUntraced(function* (services: SingleCallServices, call: SingleCall, trunk: LiveTrunk, from: string | undefined) {
  const { chosen, media, recordings, versions } = services
  const own = [
    {
      key: callerKey(call.telephonyConfigurationId, from),
      limit: from === undefined ? undefined : trunk.callerIds().limits?.get(from)
    },
    { key: `organization:${call.organizationId}`, limit: yield* limitOf(services, call.organizationId) },
    { key: `trunk:${call.telephonyConfigurationId}`, limit: trunk.maxConcurrentCalls() }
  ]
  const version = yield* versions.get(call.definitionId)
  const { hearing } = yield* chosen.chosenFor(call.organizationId, version.configurations)
  const needsAudio = recordings || hearing !== undefined || willNeedAudio(version, call.initialContext)
  const scopes: CallScopes = { own, audio: media.scope(needsAudio) }
  return scopes
})

const limitOf = ({ sql }: SingleCallServices, id: OrganizationId) =>
  organizationSettings.concurrency(sql, id).pipe(
    Effect.map(([concurrency]) => concurrency?.limit ?? 0),
    Effect.orDie
  )

type Restore = <A>(waiting: Effect.Effect<A>) => Effect.Effect<A>

/** Takes a slot, and the trunk's permission to send another request. */
const admit = Effect.fnUntraced(function* (
  services: SingleCallServices,
  callId: CallId,
  trunk: LiveTrunk,
  scopes: CallScopes,
  restore: Restore
) {
  const { slots } = services
  if (!(yield* takeSlot(services, callId, [...scopes.own, scopes.audio], restore))) return yield* whyFull(slots, scopes)
  if (trunk.admit(callId)) return
  slots.release(callId)
  return yield* whyResting(trunk, yield* SteadyTime.now)
})

/**
 * Takes a slot, and tells whether there was one. A campaign that claims, or is about to, holds slots for more contacts than it may find:
 * while it does, the client has a place among those who wait, and takes what is given back.
 */
const takeSlot = ({ slots }: SingleCallServices, callId: CallId, scopes: ReadonlyArray<SlotScope>, restore: Restore) =>
  Effect.suspend(() => {
    const woken = Deferred.makeUnsafe<void>()
    const queue = slots.queue(() => Deferred.doneUnsafe(woken, Effect.void))
    const take = Effect.sync(() => queue.take(1, () => callId, scopes).length > 0)
    const decided = restore(Effect.timeoutOption(Effect.raceFirst(Deferred.await(woken), slots.awaitClaims), CLAIMS_MILLIS))
    return Effect.ensuring(
      Effect.flatMap(take, (isTaken) => (isTaken ? Effect.succeed(true) : Effect.andThen(decided, take))),
      Effect.sync(queue.leave)
    )
  })

/** The call's own limits come first: the node's audio is named only if it alone is exhausted. */
const whyFull = (slots: Slots["Service"], { audio, own }: CallScopes) => {
  const isFull = ({ key, limit }: SlotScope) => limit !== undefined && slots.used(key) >= limit
  return isFull(audio) && !own.some(isFull) ? new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS }) : new ConcurrencyExhausted()
}

/** Writes the attempt of an admitted call and starts its actor. `accepted` is done when the provider has accepted it, or the call is over. */
const start = Effect.fnUntraced(function* (
  { clock, journal, nodeName, optOuts, rate, slots, supervisor }: SingleCallServices,
  call: SingleCall & { readonly callId: CallId },
  trunk: LiveTrunk,
  accepted: Deferred.Deferred<void, CallNotPlaced | NumberOptedOut>
) {
  const { callId, from } = call
  const giveBack = Effect.sync(() => {
    slots.release(callId)
    trunk.dismiss(callId)
  })
  const attempt = yield* journal
    .begin(call, { callId, node: nodeName, provider: trunk.adapter.manifest.provider })
    .pipe(Effect.onError(() => giveBack))
  /** What the client is told of a call that was over before the provider accepted it. */
  const why = (how: Over) =>
    how._tag === "Void" && how.reason === "permit_lapsed" && optOuts.has(call.organizationId, call.phoneNumber)
      ? new NumberOptedOut()
      : whyOver(trunk, how, SteadyTime.nowOf(clock))
  const departure = rate.reserve([{ key: trunk.rateKey, rate: trunk.rate }])
  yield* supervisor
    .start(
      attempt,
      trunk,
      { departure, from, marked: false, permit: always, placed: () => Deferred.doneUnsafe(accepted, Effect.void) },
      { recorded: (how) => Deferred.doneUnsafe(accepted, Effect.fail(why(how))) }
    )
    .pipe(Effect.onError(() => Effect.andThen(Effect.sync(departure.giveBack), giveBack)))
  return attempt
})
