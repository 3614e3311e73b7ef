/** The telephony configurations of an organization, and which of them a call goes through when none was named. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId, TelephonyConfigId } from "../Id.ts"
import { mask, masked } from "../provider/Credential.ts"
import { Registry } from "../provider/Registry.ts"
import {
  type TelephonyAccess,
  type TelephonyConfig,
  TelephonyConfigNameTaken,
  TelephonyConfigNotFound,
  TelephonyNotConfigured
} from "./TelephonyConfig.ts"
import * as store from "./TelephonyConfigStore.ts"

export interface NewTelephonyConfig {
  readonly name: string
  readonly provider: string
  /** Checked against the adapter's fields, and complete. */
  readonly credentials: Readonly<Record<string, unknown>>
  readonly isDefaultOutbound: boolean
}

export class TelephonyConfigs extends Context.Service<
  TelephonyConfigs,
  {
    /** A new default takes the place of the one before. */
    readonly create: (
      organizationId: OrganizationId,
      config: NewTelephonyConfig
    ) => Effect.Effect<TelephonyConfig, TelephonyConfigNameTaken>
    /** Oldest first. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<TelephonyConfig>>
    readonly get: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<TelephonyConfig, TelephonyConfigNotFound>
    /** The one named; without a name the default, or else the only one there is. */
    readonly resolve: (
      organizationId: OrganizationId,
      id: TelephonyConfigId | undefined
    ) => Effect.Effect<TelephonyConfig, TelephonyConfigNotFound | TelephonyNotConfigured>
    /** Unmasked, for the trunk that uses them. Not a tenant's query: the id comes from our own rows. */
    readonly credentials: (id: TelephonyConfigId) => Effect.Effect<TelephonyAccess, TelephonyConfigNotFound>
  }
>()("core/telephony/TelephonyConfigs") {
  static readonly layer = Layer.effect(
    TelephonyConfigs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const registry = yield* Registry
      const shown = (row: store.TelephonyConfigRow): TelephonyConfig => ({ ...row, credentials: maskedOf(registry, row) })
      const named = Effect.fnUntraced(function* (organizationId: OrganizationId, id: TelephonyConfigId) {
        const row = yield* Effect.orDie(store.find(sql, organizationId, id))
        return row === undefined ? yield* new TelephonyConfigNotFound({ id }) : shown(row)
      })
      const preferred = Effect.fnUntraced(function* (organizationId: OrganizationId) {
        const row = yield* Effect.orDie(store.findDefault(sql, organizationId))
        return row === undefined ? yield* new TelephonyNotConfigured() : shown(row)
      })

      return TelephonyConfigs.of({
        create: Effect.fn("TelephonyConfigs.create")((organizationId, config) => Effect.map(create(sql, organizationId, config), shown)),
        list: Effect.fn("TelephonyConfigs.list")((organizationId) =>
          Effect.map(Effect.orDie(store.list(sql, organizationId)), (rows) => rows.map(shown))
        ),
        get: Effect.fn("TelephonyConfigs.get")(named),
        resolve: Effect.fn("TelephonyConfigs.resolve")(function* (organizationId, id) {
          return yield* id === undefined ? preferred(organizationId) : named(organizationId, id)
        }),
        credentials: Effect.fn("TelephonyConfigs.credentials")(function* (id) {
          const found = yield* Effect.orDie(store.access(sql, id))
          return found ?? (yield* new TelephonyConfigNotFound({ id }))
        })
      })
    })
  )
}

const create = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient, organizationId: OrganizationId, config: NewTelephonyConfig) {
    if (config.isDefaultOutbound) {
      yield* store.lockDefault(sql, organizationId)
      yield* store.dropDefault(sql, organizationId)
    }
    const [row] = yield* store.insert(sql, { ...config, organizationId })
    return row ?? (yield* Effect.die("An inserted telephony configuration was not returned"))
  },
  (create, sql, _, { name }) =>
    sql.withTransaction(create).pipe(
      Effect.catchReason("SqlError", "UniqueViolation", ({ constraint }, error) =>
        constraint === "telephony_configurations_name" ? Effect.fail(new TelephonyConfigNameTaken({ name })) : Effect.die(error)
      ),
      Effect.catchTag("SqlError", Effect.die)
    )
)

/** The adapter may be gone: nobody then knows what is sensitive. */
const maskedOf = (registry: Registry["Service"], row: TelephonyAccess): Readonly<Record<string, unknown>> => {
  const adapter = registry.find(row.provider)
  if (adapter !== undefined) return masked(adapter.fields, row.credentials)
  return Object.fromEntries(Object.entries(row.credentials).map(([name, value]) => [name, typeof value === "string" ? mask(value) : value]))
}
