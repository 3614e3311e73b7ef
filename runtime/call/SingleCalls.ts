/** Single calls, outside of campaigns: no queue, no waiting; there is a slot now, or the caller is told that there is none. */
import { Clock, Deferred, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { runName } from "#core/call/AttemptBeginning.ts"
import { CallNotPlaced, ConcurrencyExhausted, Dialer } from "#core/call/Dialer.ts"
import type { OrganizationId } from "#core/Id.ts"
import { CallRate } from "../CallRate.ts"
import { Config } from "../config.ts"
import { LocalJournal } from "../journal/LocalJournal.ts"
import { newCallId } from "../newCallId.ts"
import { Slots } from "../Slots.ts"
import { awaitUp, TrunkPool, whyDown } from "../trunk/TrunkPool.ts"
import { CallJournal } from "./CallJournal.ts"
import { CallSupervisor } from "./CallSupervisor.ts"
import type { Permit } from "./LiveCall.ts"

/** How long a caller waits for a trunk that is being connected. */
const CONNECT_MILLIS = 5000
/** How long a caller waits for the provider's word; after that the run tells how it went on. */
const ACCEPT_MILLIS = 20_000

const always: Permit = { entered: () => {}, holds: () => true, left: () => {} }

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
    const { nodeName } = yield* Config

    const limitOf = (id: OrganizationId) =>
      sql<{ readonly limit: number }>`SELECT concurrency_limit AS "limit" FROM organizations WHERE id = ${id}::int`.pipe(
        Effect.map((rows) => rows[0]?.limit ?? 0),
        Effect.orDie
      )

    return {
      dial: Effect.fn("Dialer.dial")(function* (call) {
        const trunk = yield* pool.get(call.telephonyConfigurationId)
        if (trunk === undefined)
          return yield* new CallNotPlaced({ reason: "The provider of the telephony configuration is not installed." })
        if (trunk.status()._tag === "Down") trunk.trunk.reconnect?.()
        if (!(yield* awaitUp(trunk, CONNECT_MILLIS))) return yield* new CallNotPlaced({ reason: whyDown(trunk) ?? "It is not connected." })
        if (local.failure() !== undefined) return yield* new CallNotPlaced({ reason: "The engine cannot write its local journal." })
        const callId = call.callId ?? (yield* newCallId)
        const scopes = [
          { key: `organization:${call.organizationId}`, limit: yield* limitOf(call.organizationId) },
          { key: `trunk:${call.telephonyConfigurationId}`, limit: trunk.maxConcurrentCalls() }
        ]
        const placed = yield* Deferred.make<void, CallNotPlaced>()
        const reserve = (now: number) => rate.reserve([{ key: `trunk:${call.telephonyConfigurationId}`, rate: trunk.rate }], now)
        const from = call.from ?? trunk.callerIdFor(call.phoneNumber)
        // A client that goes away leaves neither a slot nor an attempt without a call behind.
        const attempt = yield* Effect.uninterruptible(
          Effect.gen(function* () {
            if (!slots.tryTake(callId, scopes)) return yield* new ConcurrencyExhausted()
            const attempt = yield* journal
              .begin({ ...call, from }, { callId, node: nodeName, provider: trunk.adapter.manifest.provider })
              .pipe(Effect.onError(() => Effect.sync(() => slots.release(callId))))
            const dialAt = reserve(yield* Clock.currentTimeMillis)
            yield* supervisor
              .start(
                attempt,
                trunk,
                { dialAt, from, marked: false, permit: always, placed: () => Deferred.doneUnsafe(placed, Effect.void), reserve },
                {
                  recorded: (how) =>
                    Deferred.doneUnsafe(placed, Effect.fail(new CallNotPlaced({ reason: how._tag === "Void" ? how.reason : how.cause })))
                }
              )
              .pipe(Effect.onError(() => Effect.sync(() => slots.release(callId))))
            return attempt
          })
        )
        yield* Effect.timeoutOption(Deferred.await(placed), ACCEPT_MILLIS)
        return { callId, runId: attempt.runId, runName: runName(callId) }
      })
    }
  })
)
