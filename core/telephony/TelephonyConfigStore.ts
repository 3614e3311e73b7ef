import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { type OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { newRowId, openedJson, type Place, sealedJson, Sealer } from "#core/Sealer.ts"
import { defaultConfiguration } from "./defaultConfiguration.ts"

type Sql = SqlClient.SqlClient

export interface TelephonyConfigRow {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly provider: string
  readonly credentials: Readonly<Record<string, unknown>>
  readonly isDefaultOutbound: boolean
  readonly maxConcurrentCalls: number | null
  readonly phoneNumberCount: number
  /** Why something that calls need could not be created at the provider. */
  readonly preparationTrouble: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

type Credentials = TelephonyConfigRow["credentials"]
/** A row with sealed credentials. */
export type StoredTelephony<Row extends { readonly credentials: Credentials }> = Omit<Row, "credentials"> & {
  readonly credentials: Credentials | string
}

const placeOf = (organizationId: OrganizationId, id: TelephonyConfigId): Place => ({
  of: "telephony_configurations",
  organizationId,
  id
})

/** The rows with their credentials decrypted. */
export const opened = <Row extends StoredTelephony<Pick<TelephonyConfigRow, "id" | "organizationId" | "credentials">>, E, R>(
  rows: Effect.Effect<ReadonlyArray<Row>, E, R>
) =>
  Effect.gen(function* () {
    const sealer = yield* Sealer
    return (yield* rows).map((row) => ({
      ...row,
      credentials: openedJson<Credentials>(sealer, placeOf(row.organizationId, row.id), row.credentials)
    }))
  })
type Stored = StoredTelephony<TelephonyConfigRow>

const listLimit = 1000
const columns = (sql: Sql) =>
  sql.literal(`id, organization_id, name, provider, credentials, is_default_outbound, max_concurrent_calls, preparation_trouble, created_at, updated_at,
    (SELECT count(*)::int FROM phone_numbers n WHERE n.telephony_configuration_id = telephony_configurations.id AND n.is_active) AS phone_number_count`)

/** Concurrent changes of the default wait here, so that there is never a second one. */
export const lockDefault = (sql: Sql, organizationId: OrganizationId) => sql`
  SELECT id FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`

export const dropDefault = (sql: Sql, organizationId: OrganizationId) => sql`
  UPDATE telephony_configurations SET is_default_outbound = false, updated_at = now()
  WHERE organization_id = ${organizationId} AND is_default_outbound`

export const insert = Effect.fnUntraced(function* (
  sql: Sql,
  config: {
    readonly organizationId: OrganizationId
    readonly name: string
    readonly provider: string
    readonly credentials: Credentials
    readonly isDefaultOutbound: boolean
    readonly maxConcurrentCalls: number | undefined
  }
) {
  const id = TelephonyConfigId.make(yield* newRowId(sql, "telephony_configurations"))
  const credentials = sealedJson(yield* Sealer, placeOf(config.organizationId, id), config.credentials)
  return yield* opened(sql<Stored>`
    INSERT INTO telephony_configurations (id, organization_id, name, provider, credentials, is_default_outbound, max_concurrent_calls)
    OVERRIDING SYSTEM VALUE
    VALUES (${id}::int, ${config.organizationId}, ${config.name}, ${config.provider}, ${credentials}::text::jsonb,
      ${config.isDefaultOutbound}, ${config.maxConcurrentCalls ?? null}::int)
    RETURNING ${columns(sql)}`)
})

export const list = (sql: Sql, organizationId: OrganizationId) =>
  opened(sql<Stored>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${listLimit}`)

const first = <E, R>(rows: Effect.Effect<ReadonlyArray<Stored>, E, R>) => Effect.map(opened(rows), ([row]) => row)

export const find = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<Stored>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(first)

/** Finds the configuration, which then cannot be deleted before the transaction ends. */
export const hold = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<Stored>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}
    FOR KEY SHARE`.pipe(first)

/** Finds the configuration to call through when none is named. It cannot be deleted before the transaction ends. */
export const holdDefault = (sql: Sql, organizationId: OrganizationId) =>
  sql<Stored>`
    SELECT ${columns(sql)} FROM telephony_configurations
    WHERE organization_id = ${organizationId} AND id = ${sql.literal(defaultConfiguration("telephony_configurations.organization_id"))}
    FOR KEY SHARE`.pipe(first)

/** Serializes changes of the configuration and of its numbers. */
export const lock = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<Stored>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}
    FOR NO KEY UPDATE`.pipe(first)

/** Undefined fields stay unchanged. A null limit means no limit. */
interface StoredChanges {
  readonly name: string | undefined
  readonly credentials: Readonly<Record<string, unknown>> | undefined
  readonly maxConcurrentCalls: number | null | undefined
}

export const update = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId, to: StoredChanges) {
  const credentials = to.credentials === undefined ? null : sealedJson(yield* Sealer, placeOf(organizationId, id), to.credentials)
  return yield* sql<Stored>`
    UPDATE telephony_configurations SET name = coalesce(${to.name ?? null}::text, name), updated_at = now(),
      credentials = coalesce(${credentials}::text::jsonb, credentials),
      preparation_trouble = CASE WHEN ${credentials === null} THEN preparation_trouble END,
      max_concurrent_calls = CASE WHEN ${to.maxConcurrentCalls === undefined} THEN max_concurrent_calls
        ELSE ${to.maxConcurrentCalls ?? null}::int END
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(first)
})

/** Stores what was created at the provider, or why that failed. */
export const setPrepared = Effect.fnUntraced(function* (
  sql: Sql,
  organizationId: OrganizationId,
  id: TelephonyConfigId,
  to: { readonly credentials: Credentials; readonly trouble: string | undefined }
) {
  const credentials = sealedJson(yield* Sealer, placeOf(organizationId, id), to.credentials)
  yield* sql`
    UPDATE telephony_configurations SET credentials = ${credentials}::text::jsonb, preparation_trouble = ${to.trouble ?? null}::text
    WHERE organization_id = ${organizationId} AND id = ${id}`
})

export const setAccount = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId, account: string | undefined) => sql`
  UPDATE phone_numbers SET account = ${account ?? null}::text
  WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${id} AND account IS DISTINCT FROM ${account ?? null}::text`

export const setDefault = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<Stored>`
    UPDATE telephony_configurations SET is_default_outbound = true, updated_at = now()
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(first)

/** Waits for transactions that hold the configuration. Transactions that come later find it gone. */
export const lockForDeletion = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql`
    SELECT id FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id} FOR UPDATE`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const users = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<{ readonly campaigns: boolean; readonly calls: boolean }>`
    SELECT EXISTS (SELECT 1 FROM campaigns WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${id}) AS campaigns,
      EXISTS (SELECT 1 FROM attempts WHERE state IN ('intent', 'sent', 'answered') AND organization_id = ${organizationId}
        AND telephony_configuration_id = ${id}) AS calls`.pipe(Effect.map((rows) => rows[0]))

export const remove = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) => sql`
  DELETE FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}`
