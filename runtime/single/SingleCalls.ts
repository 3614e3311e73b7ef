/** Single calls, outside of campaigns. They do not wait for other calls to end: if there is no free slot, the client is told so. */
import { Clock, Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { runName } from "#core/call/AttemptBeginning.ts"
import { CallNotPlaced, ConcurrencyExhausted, Dialer, MediaExhausted, type SingleCall } from "#core/call/Dialer.ts"
import { NumberOptedOut } from "#core/contact/OptOut.ts"
import { RecentOptOuts } from "#core/contact/RecentOptOuts.ts"
import type { CallId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { CallRate } from "#runtime/dispatch/CallRate.ts"
import { Config } from "#runtime/config/config.ts"
import { LocalJournal } from "#runtime/journal/LocalJournal.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { EngineLock } from "#runtime/lock/EngineLock.ts"
import { callerKey, Slots, type SlotScope } from "#runtime/dispatch/Slots.ts"
import { organizationScope, type Restore, takeSlot } from "#runtime/dispatch/takeSlot.ts"
import { awaitUp, type LiveTrunk, TrunkPool, whyDown } from "#runtime/trunk/TrunkPool.ts"
import type { Over } from "#core/call/Call.ts"
import { MediaRoom } from "#runtime/voice/MediaRoom.ts"
import type { Carrier } from "#runtime/nodes/Carrier.ts"
import { CallNodes } from "#runtime/nodes/CallNodes.ts"
import { CallJournal } from "#runtime/call/CallJournal.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { willNeedAudio } from "#runtime/call/greeted.ts"
import type { CallWatcher, Permit } from "#runtime/call/LiveCall.ts"

/** How long a client waits for a trunk that is being connected. */
const CONNECT_MILLIS = 5000
/** How long a client waits for the provider's reply; after that, the run shows how the call continued. */
const ACCEPT_MILLIS = 20_000
/** When a client may try again after all audio capacity was in use. */
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

const returned = () =>
  new CallNotPlaced({ reason: "The call node that was to carry the call has sent nothing; try again in 1 s.", retryAfterSeconds: 1 })

/** `words`: the provider's. */
const whyOver = (trunk: LiveTrunk, how: Over, words: string | undefined, now: SteadyTime.SteadyMillis): CallNotPlaced => {
  const why = how._tag === "Ended" ? how.cause : how.reason
  if (why !== "permit_lapsed") return new CallNotPlaced({ reason: words === undefined ? why : `${why}: ${words}` })
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
  readonly nodes: CallNodes["Service"]
  readonly optOuts: RecentOptOuts["Service"]
  readonly pool: TrunkPool["Service"]
  readonly rate: CallRate["Service"]
  /** Whether calls are recorded, in which case each needs audio. */
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
      nodes: yield* CallNodes,
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
        // A client that disconnects must not leave behind a slot, or an attempt without a call.
        const attempt = yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            const carrier = yield* admit(services, callId, trunk, scopes, restore)
            return yield* start(services, { ...call, callId, from }, { accepted, carrier, needsAudio: scopes.needsAudio, trunk })
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
  /** The capacity for audio of this engine and the call nodes. */
  readonly audio: SlotScope
  readonly needsAudio: boolean
}

const scopesOf = Effect.fnUntraced(function* (services: SingleCallServices, call: SingleCall, trunk: LiveTrunk, from: string | undefined) {
  const { chosen, media, recordings, sql, versions } = services
  const own = [
    {
      key: callerKey(call.telephonyConfigurationId, from),
      limit: from === undefined ? undefined : trunk.callerIds().limits?.get(from)
    },
    yield* organizationScope(sql, call.organizationId),
    { key: `trunk:${call.telephonyConfigurationId}`, limit: trunk.maxConcurrentCalls() }
  ]
  const version = yield* versions.get(call.definitionId)
  const { hearing } = yield* chosen.chosenFor(call.organizationId, version.configurations)
  const needsAudio = recordings || hearing !== undefined || willNeedAudio(version, call.initialContext)
  const scopes: CallScopes = { own, audio: media.scope(needsAudio), needsAudio }
  return scopes
})

/** Takes a slot, and the trunk's permission to send another request. Returns the call node that is to have the call, if not this engine. */
const admit = Effect.fnUntraced(function* (
  services: SingleCallServices,
  callId: CallId,
  trunk: LiveTrunk,
  scopes: CallScopes,
  restore: Restore
) {
  const { media, nodes, slots } = services
  if (!(yield* takeSlot(slots, callId, [...scopes.own, scopes.audio], restore))) return yield* whyFull(slots, scopes)
  const here = media.here()
  const { carrier } = nodes.choose(trunk)
  // Only call nodes have room, and none of them takes calls of this trunk now. Its own slot counts here.
  if (carrier === undefined && scopes.audio.limit !== undefined && here.calls > here.limit) {
    slots.release(callId)
    return yield* new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS })
  }
  if (trunk.admit(callId)) {
    carrier?.expect([callId], scopes.needsAudio)
    return carrier
  }
  slots.release(callId)
  return yield* whyResting(trunk, yield* SteadyTime.now)
})

/** The call's own limits come first: audio is reported only if it alone is exhausted. */
const whyFull = (slots: Slots["Service"], { audio, own }: CallScopes) => {
  const isFull = ({ key, limit }: SlotScope) => limit !== undefined && slots.used(key) >= limit
  return isFull(audio) && !own.some(isFull) ? new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS }) : new ConcurrencyExhausted()
}

interface Admitted {
  /** Completed when the provider has accepted the call, or the call is over. */
  readonly accepted: Deferred.Deferred<void, CallNotPlaced | NumberOptedOut>
  /** The call node that is to have the call, if not this engine. */
  readonly carrier: Carrier | undefined
  readonly needsAudio: boolean
  readonly trunk: LiveTrunk
}

/** Writes the attempt of an admitted call, and starts its actor or hands it over to a call node. */
const start = Effect.fnUntraced(function* (
  { clock, journal, nodeName, nodes, optOuts, rate, slots, supervisor }: SingleCallServices,
  call: SingleCall & { readonly callId: CallId },
  { accepted, carrier, needsAudio, trunk }: Admitted
) {
  const { callId, from } = call
  const giveBack = Effect.sync(() => {
    slots.release(callId)
    trunk.dismiss(callId)
  })
  const attempt = yield* journal
    .begin(call, { callId, journal: carrier?.journal, node: carrier?.node ?? nodeName, provider: trunk.adapter.manifest.provider })
    .pipe(Effect.onError(() => giveBack))
  /** What the client is told about a call that was over before the provider accepted it. */
  const why = (how: Over, words: string | undefined) =>
    how._tag === "Void" && how.reason === "permit_lapsed" && optOuts.has(call.organizationId, call.phoneNumber)
      ? new NumberOptedOut()
      : whyOver(trunk, how, words, SteadyTime.nowOf(clock))
  const departure = rate.reserve([{ key: trunk.rateKey, rate: trunk.rate }])
  const placed = () => Deferred.doneUnsafe(accepted, Effect.void)
  const refused = (why: CallNotPlaced | NumberOptedOut) => Deferred.doneUnsafe(accepted, Effect.fail(why))
  const dialing = { departure, from, marked: false, permit: always, placed }
  let words: string | undefined
  const watcher: CallWatcher = {
    over: (_, { refusal }) => {
      words = refusal
    },
    recorded: (how) => refused(why(how, words))
  }
  if (carrier !== undefined) {
    nodes.start(carrier, attempt, trunk, { ...dialing, needsAudio, returned: () => refused(returned()) }, watcher)
    return attempt
  }
  yield* supervisor
    .start(attempt, trunk, dialing, watcher)
    .pipe(Effect.onError(() => Effect.andThen(Effect.sync(departure.giveBack), giveBack)))
  return attempt
})
