/** What an organization sets for all that it does. Running campaigns dial by a changed limit at once. */
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
    /** Opaque, for whoever keeps organizations elsewhere too; null where nobody signed up for it. */
    readonly providerId: (id: OrganizationId) => Effect.Effect<string | null>
    readonly preferences: (id: OrganizationId) => Effect.Effect<Preferences>
    readonly setPreferences: (id: OrganizationId, preferences: Preferences) => Effect.Effect<Preferences>
    readonly concurrency: (id: OrganizationId) => Effect.Effect<Concurrency>
    /** Up to what the operator allows; an operator, who works for an organization, allows it what is asked for. */
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
        // What is allowed is not the organization's own to change.
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
        // A client that goes away must not leave campaigns that were not told.
        setConcurrency: Effect.fn("OrganizationSettings.setConcurrency")((caller, concurrency) =>
          Effect.uninterruptible(setConcurrency(caller, concurrency))
        )
      })
    })
  )
}

/** The organization of a caller is there. */
const one = <A, E>(rows: Effect.Effect<ReadonlyArray<A>, E>): Effect.Effect<A> =>
  Effect.flatMap(Effect.orDie(rows), ([row]) => (row === undefined ? Effect.die("The caller's organization is gone") : Effect.succeed(row)))
