/** What an organization sets for all that it does. Running campaigns dial by a changed limit at once. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../Id.ts"
import { Signals } from "../Signals.ts"
import * as store from "./OrganizationSettingsStore.ts"

export interface Preferences {
  readonly testPhoneNumber: string | null
  /** IANA name. */
  readonly timezone: string | null
  readonly externalPbxIntegrationsEnabled: boolean
}

export interface Concurrency {
  /** Calls that may be up at once. Calls that are up when it is lowered go on. */
  readonly limit: number
  /** Of these, so many are kept from campaigns. */
  readonly reserve: number
}

export class OrganizationSettings extends Context.Service<
  OrganizationSettings,
  {
    /** Opaque, for whoever keeps organizations elsewhere too; null where nobody signed up for it. */
    readonly providerId: (id: OrganizationId) => Effect.Effect<string | null>
    readonly preferences: (id: OrganizationId) => Effect.Effect<Preferences>
    readonly setPreferences: (id: OrganizationId, preferences: Preferences) => Effect.Effect<Preferences>
    readonly concurrency: (id: OrganizationId) => Effect.Effect<Concurrency>
    readonly setConcurrency: (id: OrganizationId, concurrency: Concurrency) => Effect.Effect<Concurrency>
  }
>()("core/organization/OrganizationSettings") {
  static readonly layer = Layer.effect(
    OrganizationSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const signals = yield* Signals
      const setConcurrency = Effect.fnUntraced(function* (id: OrganizationId, concurrency: Concurrency) {
        const stored = yield* one(store.setConcurrency(sql, id, concurrency))
        const running = yield* Effect.orDie(store.running(sql, id))
        yield* Effect.forEach(running, (campaign) => signals.campaignChanged(campaign.id), { discard: true, concurrency: "unbounded" })
        return stored
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
        setConcurrency: Effect.fn("OrganizationSettings.setConcurrency")((id, concurrency) =>
          Effect.uninterruptible(setConcurrency(id, concurrency))
        )
      })
    })
  )
}

/** The organization of a caller is there. */
const one = <A, E>(rows: Effect.Effect<ReadonlyArray<A>, E>): Effect.Effect<A> =>
  Effect.flatMap(Effect.orDie(rows), ([row]) => (row === undefined ? Effect.die("The caller's organization is gone") : Effect.succeed(row)))
