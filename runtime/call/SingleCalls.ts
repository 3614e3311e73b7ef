/** Single calls, outside of campaigns: nobody waits for a call to end; there is a slot now, or the caller is told that there is none. */
import { Clock, Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { runName } from "#core/call/AttemptBeginning.ts"
import { CallNotPlaced, ConcurrencyExhausted, Dialer, MediaExhausted } from "#core/call/Dialer.ts"
import type { CallId, OrganizationId } from "#core/Id.ts"
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

/** How long a caller waits for a trunk that is being connected. */
const CONNECT_MILLIS = 5000
/** How long a caller waits for the provider's word; after that the run tells how it went on. */
const ACCEPT_MILLIS = 20_000

/** How long a caller waits for claims of campaigns that are under way, which may give slots back. */
const CLAIMS_MILLIS = 5000

/** Calls end every now and then. */
const MEDIA_AGAIN_SECONDS = 5

const always: Permit = { holds: () => true }

/** Why the trunk takes no call now, and when to try again. */
const whyResting = (trunk: LiveTrunk, now: SteadyTime.SteadyMillis): CallNotPlaced => {
  const trouble = trunk.trouble()
  const seconds = Math.max(1, Math.ceil(((trouble?.until ?? now) - now) / 1000))
  const reason =
    trouble?.kind === "limited" ? "The telephony provider asks for fewer calls" : "The telephony provider does not take calls just now"
  return new CallNotPlaced({ reason: `${reason}; try again in ${seconds} s.`, retryAfterSeconds: seconds })
}

/** What a caller is told of a call that was over before the provider had taken it. */
const whyOver = (trunk: LiveTrunk, how: Over, now: SteadyTime.SteadyMillis): CallNotPlaced => {
  if (how._tag === "Ended") return new CallNotPlaced({ reason: how.cause })
  if (how.reason !== "permit_lapsed") {
    const words = how.reason === "unreachable" || how.reason === "rate_limited" ? trunk.trouble()?.detail : trunk.refusal()
    return new CallNotPlaced({ reason: words === undefined ? how.reason : `${how.reason}: ${words}` })
  }
  if (!trunk.isCurrent()) return new CallNotPlaced({ reason: "The telephony configuration has just been changed; try again." })
  return trunk.trouble() === undefined ? new CallNotPlaced({ reason: how.reason }) : whyResting(trunk, now)
}

export const layer = Layer.effect(
  Dialer,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const journal = yield* CallJournal
    const local = yield* LocalJournal
    const slots = yield* Slots
    const rate = yield* CallRate
    const pool = yield* TrunkPool
    const supervisor = yield* CallSupervisor
    const lock = yield* EngineLock
    const media = yield* MediaRoom
    const versions = yield* AgentVersions
    const { nodeName, recordings } = yield* Config
    const clock = yield* Clock.Clock

    const limitOf = (id: OrganizationId) =>
      sql<{ readonly limit: number }>`SELECT concurrency_limit AS "limit" FROM organizations WHERE id = ${id}::int`.pipe(
        Effect.map((rows) => rows[0]?.limit ?? 0),
        Effect.orDie
      )

    const isFull = ({ key, limit }: SlotScope) => limit !== undefined && slots.used(key) >= limit
    /** Whoever has no room of his own left is told so first. */
    const whyFull = (own: ReadonlyArray<SlotScope>, room: SlotScope) =>
      isFull(room) && !own.some(isFull) ? new MediaExhausted({ retryAfterSeconds: MEDIA_AGAIN_SECONDS }) : new ConcurrencyExhausted()

    /**
     * Takes a slot, and tells whether there was one. A campaign that claims holds slots for more contacts than it may find: while it does, the caller has a place
     * among those who wait, and takes what is given back.
     */
    const takeSlot = (callId: CallId, scopes: ReadonlyArray<SlotScope>, restore: <A>(waiting: Effect.Effect<A>) => Effect.Effect<A>) =>
      Effect.suspend(() => {
        const woken = Deferred.makeUnsafe<void>()
        const queue = slots.queue(() => Deferred.doneUnsafe(woken, Effect.void))
        const take = Effect.sync(() => queue.take([callId], scopes).length > 0)
        const decided = restore(Effect.timeoutOption(Effect.raceFirst(Deferred.await(woken), slots.awaitClaims), CLAIMS_MILLIS))
        return Effect.ensuring(
          Effect.flatMap(take, (isTaken) => (isTaken ? Effect.succeed(true) : Effect.andThen(decided, take))),
          Effect.sync(queue.leave)
        )
      })

    return {
      dial: Effect.fn("Dialer.dial")(function* (call) {
        if (!lock.isHeld()) return yield* new CallNotPlaced({ reason: "The engine does not reach its database." })
        const trunk = yield* pool.get(call.telephonyConfigurationId)
        if (trunk === undefined)
          return yield* new CallNotPlaced({ reason: "The provider of the telephony configuration is not installed." })
        if (trunk.status()._tag === "Down") trunk.trunk.reconnect?.()
        if (!(yield* awaitUp(trunk, CONNECT_MILLIS))) return yield* new CallNotPlaced({ reason: whyDown(trunk) ?? "It is not connected." })
        if (local.failure() !== undefined) return yield* new CallNotPlaced({ reason: "The engine cannot write its local journal." })
        const callId = call.callId ?? (yield* newCallId)
        const from = call.from ?? trunk.callerIdFor(call.phoneNumber)
        const own = [
          {
            key: callerKey(call.telephonyConfigurationId, from),
            limit: from === undefined ? undefined : trunk.callerIds().limits?.get(from)
          },
          { key: `organization:${call.organizationId}`, limit: yield* limitOf(call.organizationId) },
          { key: `trunk:${call.telephonyConfigurationId}`, limit: trunk.maxConcurrentCalls() }
        ]
        const needsAudio = recordings || willNeedAudio(yield* versions.get(call.definitionId), call.initialContext)
        const room = media.scope(needsAudio)
        const placed = yield* Deferred.make<void, CallNotPlaced>()
        const giveBack = Effect.sync(() => {
          slots.release(callId)
          trunk.dismiss(callId)
        })
        // A client that goes away leaves neither a slot nor an attempt without a call behind.
        const attempt = yield* Effect.uninterruptibleMask((restore) =>
          Effect.gen(function* () {
            if (!(yield* takeSlot(callId, [...own, room], restore))) return yield* whyFull(own, room)
            if (!trunk.admit(callId)) {
              slots.release(callId)
              return yield* whyResting(trunk, yield* SteadyTime.now)
            }
            const attempt = yield* journal
              .begin({ ...call, from }, { callId, node: nodeName, provider: trunk.adapter.manifest.provider })
              .pipe(Effect.onError(() => giveBack))
            const departure = rate.reserve([{ key: `trunk:${call.telephonyConfigurationId}`, rate: trunk.rate }])
            yield* supervisor
              .start(
                attempt,
                trunk,
                { departure, from, marked: false, permit: always, placed: () => Deferred.doneUnsafe(placed, Effect.void) },
                {
                  recorded: (how) => Deferred.doneUnsafe(placed, Effect.fail(whyOver(trunk, how, SteadyTime.nowOf(clock))))
                }
              )
              .pipe(Effect.onError(() => Effect.andThen(Effect.sync(departure.giveBack), giveBack)))
            return attempt
          })
        )
        yield* Effect.timeoutOption(Deferred.await(placed), ACCEPT_MILLIS)
        return { callId, runId: attempt.runId, runName: runName(callId) }
      })
    }
  })
)
