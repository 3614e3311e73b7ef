/** What a live trunk needs from its telephony configuration. For the engine only, because the credentials are unmasked. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import { type CallerIds, isPresentable } from "./CallerId.ts"
import { opened, type StoredTelephony } from "./TelephonyConfigStore.ts"

export interface TrunkSetting {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly provider: string
  readonly credentials: Readonly<Record<string, unknown>>
  /** How many calls the trunk may carry at once. */
  readonly maxConcurrentCalls: number | undefined
  readonly callerIds: CallerIds
  /** Changes with the credentials. */
  readonly version: string
  /** A call has been placed with this version. */
  readonly isProven: boolean
}

export class TrunkSettings extends Context.Service<
  TrunkSettings,
  {
    /** Not restricted to a tenant, because the id comes from the engine's own rows. Undefined if the configuration is gone. */
    readonly find: (id: TelephonyConfigId) => Effect.Effect<TrunkSetting | undefined>
    /** The provider does not let calls show this number. It is no longer used as a caller ID until a person clears that. */
    readonly refuseCaller: (id: TelephonyConfigId, number: string, reason: string) => Effect.Effect<void>
    /** A call has been placed with this version of the configuration. */
    readonly prove: (id: TelephonyConfigId, version: string) => Effect.Effect<void>
  }
>()("core/telephony/TrunkSettings") {
  static readonly layer = Layer.effect(
    TrunkSettings,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      return TrunkSettings.of({
        find: Effect.fn("TrunkSettings.find")((id) => sealing(Effect.orDie(find(sql, id)))),
        refuseCaller: Effect.fn("TrunkSettings.refuseCaller")((id, number, reason) =>
          sql`
            UPDATE phone_numbers SET refused_reason = ${reason}, updated_at = now()
            WHERE telephony_configuration_id = ${id}::int AND address_normalized = ${number} AND refused_reason IS NULL`.pipe(
            Effect.asVoid,
            Effect.orDie
          )
        ),
        prove: Effect.fn("TrunkSettings.prove")((id, version) =>
          sql`
            UPDATE telephony_configurations SET proven_version = ${version}
            WHERE id = ${id}::int AND md5(credentials::text) = ${version}`.pipe(Effect.asVoid, Effect.orDie)
        )
      })
    })
  )
}

const find = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: TelephonyConfigId) {
  interface SettingRow extends StoredTelephony<Omit<TrunkSetting, "maxConcurrentCalls" | "callerIds">> {
    readonly maxConcurrentCalls: number | null
    readonly numbers: ReadonlyArray<{ readonly address: string; readonly isDefault: boolean; readonly maxConcurrent: number | null }>
    readonly inactive: number
    readonly refused: number
  }
  const [row] = yield* opened(sql<SettingRow>`
    SELECT c.id, c.organization_id, c.provider, c.credentials, c.max_concurrent_calls, md5(c.credentials::text) AS version,
      c.proven_version IS NOT DISTINCT FROM md5(c.credentials::text) AS is_proven,
      coalesce((SELECT jsonb_agg(jsonb_build_object('address', n.address_normalized, 'isDefault', n.is_default_caller_id,
        'maxConcurrent', n.max_concurrent) ORDER BY n.id)
        FROM phone_numbers n WHERE n.telephony_configuration_id = c.id AND n.is_active AND n.refused_reason IS NULL), '[]') AS numbers, u.*
    FROM telephony_configurations c CROSS JOIN LATERAL (
      SELECT (count(*) FILTER (WHERE NOT is_active))::int AS inactive, (count(*) FILTER (WHERE is_active AND refused_reason IS NOT NULL))::int AS refused
      FROM phone_numbers WHERE telephony_configuration_id = c.id
    ) u WHERE c.id = ${id}::int`)
  if (row === undefined) return undefined
  const { inactive, maxConcurrentCalls, numbers, refused, ...rest } = row
  const shown = numbers.filter(({ address }) => isPresentable(address))
  const limits = new Map(shown.flatMap(({ address, maxConcurrent }) => (maxConcurrent === null ? [] : [[address, maxConcurrent] as const])))
  const unusable = { inactive, refused, other: numbers.length - shown.length }
  const callerIds = {
    preferred: shown.find(({ isDefault }) => isDefault)?.address,
    all: shown.map(({ address }) => address),
    limits,
    unusable
  }
  return { ...rest, maxConcurrentCalls: maxConcurrentCalls ?? undefined, callerIds }
})
