/**
 * Whether an organization keeps recordings and transcripts of its calls at all. This is asked for each call as it is dialed, so the answers are
 * cached; a change on this node takes effect at once.
 */
import { Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { acrossTenants } from "#core/organization/CurrentTenant.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import * as store from "./RetentionStore.ts"

/** How long other nodes may keep using the old setting after a change. */
const REMEMBERED = Duration.seconds(10)
const MOST_REMEMBERED = 10_000

interface Keeping {
  readonly recordings: boolean
  readonly transcripts: boolean
}

export class CallKeeping extends Context.Service<
  CallKeeping,
  {
    readonly of: (organizationId: OrganizationId) => Effect.Effect<Keeping>
    /** Must be run when the setting of any organization has changed. */
    readonly changed: Effect.Effect<void>
  }
>()("core/file/CallKeeping") {
  static readonly layer = Layer.effect(
    CallKeeping,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const find = (id: OrganizationId): Effect.Effect<Keeping> =>
        acrossTenants(Effect.orDie(store.find(sql, id))).pipe(
          Effect.map(({ keepsRecordings, keepsTranscripts }) => ({ recordings: keepsRecordings, transcripts: keepsTranscripts }))
        )
      const cache = yield* SteadyCache.make(find, {
        capacity: MOST_REMEMBERED,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? REMEMBERED : Duration.zero)
      })
      return CallKeeping.of({ of: cache.get, changed: cache.forgetAll })
    })
  )
}
