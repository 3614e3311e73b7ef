/** Slots of calls outside of campaigns, whose clients are told at once if there is none. */
import { Deferred, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CallId, OrganizationId } from "#core/Id.ts"
import * as organizationSettings from "#core/organization/OrganizationSettingsStore.ts"
import type { Slots, SlotScope } from "./Slots.ts"

/** How long a client waits for campaign claims in progress, which may give slots back. */
const CLAIMS_MILLIS = 5000

export type Restore = <A>(waiting: Effect.Effect<A>) => Effect.Effect<A>

/**
 * Takes a slot, and returns whether there was one. A campaign that is claiming, or about to, holds slots for more contacts than it may find:
 * meanwhile the client waits in the queue and takes whatever is given back.
 */
export const takeSlot = (slots: Slots["Service"], callId: CallId, scopes: ReadonlyArray<SlotScope>, restore: Restore) =>
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

/** The calls that the organization may have up at once. */
export const organizationScope = (sql: SqlClient.SqlClient, id: OrganizationId): Effect.Effect<SlotScope> =>
  organizationSettings.concurrency(sql, id).pipe(
    Effect.map(([concurrency]) => ({ key: `organization:${id}`, limit: concurrency?.limit ?? 0 })),
    Effect.orDie
  )
