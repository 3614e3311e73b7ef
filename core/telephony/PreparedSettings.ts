/** Stores what was created at a provider for a telephony configuration. For the engine only, because the credentials are unmasked. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Sealer } from "#core/Sealer.ts"
import * as store from "./TelephonyConfigStore.ts"
import type { TrunkSetting } from "./TrunkSettings.ts"

export interface Prepared {
  /** The values of managed fields. */
  readonly made: Readonly<Record<string, string>>
  /** Why not everything could be created. */
  readonly trouble: string | undefined
}

export class PreparedSettings extends Context.Service<
  PreparedSettings,
  {
    /**
     * Returns false, and stores nothing, if the configuration is gone or its credentials have changed in the meantime. `accountOf` returns the
     * account that credentials belong to.
     */
    readonly keep: (
      setting: Pick<TrunkSetting, "id" | "organizationId" | "credentials">,
      prepared: Prepared,
      accountOf: (credentials: TrunkSetting["credentials"]) => string | undefined
    ) => Effect.Effect<boolean>
  }
>()("core/telephony/PreparedSettings") {
  static readonly layer = Layer.effect(
    PreparedSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      return PreparedSettings.of({
        keep: Effect.fn("PreparedSettings.keep")((...given) => sealing(Effect.orDie(sql.withTransaction(keep(sql, ...given)))))
      })
    })
  )
}

const keep = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  { credentials, id, organizationId }: Pick<TrunkSetting, "id" | "organizationId" | "credentials">,
  { made, trouble }: Prepared,
  accountOf: (credentials: TrunkSetting["credentials"]) => string | undefined
) {
  const row = yield* store.lock(sql, organizationId, id)
  if (row === undefined || JSON.stringify(row.credentials) !== JSON.stringify(credentials)) return false
  const now = { ...credentials, ...made }
  yield* store.setPrepared(sql, organizationId, id, { credentials: now, trouble })
  yield* store.setAccount(sql, organizationId, id, accountOf(now))
  return true
})
