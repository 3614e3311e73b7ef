/** The settings of an organization. A changed limit takes effect in running campaigns at once. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { Signals } from "#core/Signals.ts"
import type { Caller } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import type { Concurrency, Preferences } from "./Organization.ts"
import * as store from "./OrganizationSettingsStore.ts"
import { QuotaNotAllowed, quotaOf } from "./Quota.ts"
import { defaultsOf, setOf } from "./Quotas.ts"
import * as quotas from "./QuotaStore.ts"
import { SignupPolicy } from "./SignUp.ts"

export class OrganizationSettings extends Context.Service<
  OrganizationSettings,
  {
    /** An opaque id for systems that keep organizations too; null for an organization that was not created by a sign-up. */
    readonly providerId: (id: OrganizationId) => Effect.Effect<string | null>
    readonly preferences: (id: OrganizationId) => Effect.Effect<Preferences>
    readonly setPreferences: (id: OrganizationId, preferences: Preferences) => Effect.Effect<Preferences>
    readonly concurrency: (id: OrganizationId) => Effect.Effect<Concurrency>
    /** Limited to what the operator allows. An operator's key raises that allowance instead. */
    readonly setConcurrency: (caller: Caller, concurrency: Concurrency) => Effect.Effect<Concurrency, QuotaNotAllowed>
  }
>()("core/organization/OrganizationSettings") {
  static readonly layer = Layer.effect(
    OrganizationSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const defaults = defaultsOf(yield* SignupPolicy)
      const stored = Effect.fnUntraced(
        function* ({ isOperator, organizationId: id }: Caller, concurrency: Concurrency) {
          yield* quotas.lock(sql, id)
          const { limit } = concurrency
          const { allowed } = quotaOf("calls", (yield* setOf(sql, id))("calls"), defaults)
          if (limit > allowed) {
            if (isOperator !== true)
              return yield* new QuotaNotAllowed({ quota: "calls", field: "concurrency_limit", allowed, asked: limit })
            yield* quotas.set(sql, id, "allowed", { calls: limit })
          }
          yield* quotas.set(sql, id, "own", { calls: limit < allowed ? limit : null })
          return yield* one(store.setConcurrency(sql, id, concurrency))
        },
        // Across tenants: an organization cannot change its own allowance.
        (stored) => acrossTenants(sql.withTransaction(stored)).pipe(Effect.catchTag("SqlError", Effect.die))
      )
      const setConcurrency = Effect.fnUntraced(function* (caller: Caller, concurrency: Concurrency) {
        const set = yield* stored(caller, concurrency)
        const id = caller.organizationId
        const running = yield* Effect.orDie(store.running(sql, id))
        yield* Effect.forEach(running, (campaign) => signals.campaignChanged(campaign.id), { discard: true, concurrency: "unbounded" })
        return set
      })
      return OrganizationSettings.of({
        providerId: Effect.fn("OrganizationSettings.providerId")((id) =>
          Effect.map(one(store.providerId(sql, id)), ({ providerId }) => providerId)
        ),
        preferences: Effect.fn("OrganizationSettings.preferences")((id) => one(store.preferences(sql, id))),
        setPreferences: Effect.fn("OrganizationSettings.setPreferences")((id, preferences) =>
          one(store.setPreferences(sql, id, preferences))
        ),
        concurrency: Effect.fn("OrganizationSettings.concurrency")((id) => one(store.concurrency(sql, id))),
        // Uninterruptible: if the client disconnects, running campaigns must still be signalled.
        setConcurrency: Effect.fn("OrganizationSettings.setConcurrency")((caller, concurrency) =>
          Effect.uninterruptible(setConcurrency(caller, concurrency))
        )
      })
    })
  )
}

/** The organization of an authenticated caller always exists. */
const one = <A, E>(rows: Effect.Effect<ReadonlyArray<A>, E>): Effect.Effect<A> =>
  Effect.flatMap(Effect.orDie(rows), ([row]) => (row === undefined ? Effect.die("The caller's organization is gone") : Effect.succeed(row)))
