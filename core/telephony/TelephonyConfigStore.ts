import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId, TelephonyConfigId } from "../Id.ts"

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
  readonly createdAt: Date
  readonly updatedAt: Date
}

const listLimit = 1000
const columns = (sql: Sql) =>
  sql.literal(`id, organization_id, name, provider, credentials, is_default_outbound, max_concurrent_calls, created_at, updated_at,
    (SELECT count(*)::int FROM phone_numbers n WHERE n.telephony_configuration_id = telephony_configurations.id AND n.is_active) AS phone_number_count`)

/** Whoever makes a default waits here for the one before him: there is never a second default. */
export const lockDefault = (sql: Sql, organizationId: OrganizationId) => sql`
  SELECT id FROM organizations WHERE id = ${organizationId} FOR NO KEY UPDATE`

export const dropDefault = (sql: Sql, organizationId: OrganizationId) => sql`
  UPDATE telephony_configurations SET is_default_outbound = false, updated_at = now()
  WHERE organization_id = ${organizationId} AND is_default_outbound`

export const insert = (
  sql: Sql,
  config: {
    readonly organizationId: OrganizationId
    readonly name: string
    readonly provider: string
    readonly credentials: Readonly<Record<string, unknown>>
    readonly isDefaultOutbound: boolean
    readonly maxConcurrentCalls: number | undefined
  }
) => sql<TelephonyConfigRow>`
  INSERT INTO telephony_configurations (organization_id, name, provider, credentials, is_default_outbound, max_concurrent_calls)
  VALUES (${config.organizationId}, ${config.name}, ${config.provider}, ${JSON.stringify(config.credentials)}::text::jsonb,
    ${config.isDefaultOutbound}, ${config.maxConcurrentCalls ?? null}::int)
  RETURNING ${columns(sql)}`

export const list = (sql: Sql, organizationId: OrganizationId) => sql<TelephonyConfigRow>`
  SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${listLimit}`

const first = Effect.map((rows: ReadonlyArray<TelephonyConfigRow>) => rows[0])

export const find = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(first)

/** It cannot be deleted before the transaction ends. */
export const hold = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}
    FOR KEY SHARE`.pipe(first)

/** The default one, or else the only one that there is. */
export const holdDefault = (sql: Sql, organizationId: OrganizationId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId}
    ORDER BY is_default_outbound DESC, id LIMIT 2 FOR KEY SHARE`.pipe(
    Effect.map((rows) => (rows[0]?.isDefaultOutbound === true || rows.length === 1 ? rows[0] : undefined))
  )

/** Changes of it and of its numbers wait for each other. */
export const lock = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}
    FOR NO KEY UPDATE`.pipe(first)

/** Undefined: stays as it is. Without a limit: null. */
export interface StoredChanges {
  readonly name: string | undefined
  readonly credentials: Readonly<Record<string, unknown>> | undefined
  readonly maxConcurrentCalls: number | null | undefined
}

export const update = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId, to: StoredChanges) =>
  sql<TelephonyConfigRow>`
    UPDATE telephony_configurations SET name = coalesce(${to.name ?? null}::text, name), updated_at = now(),
      credentials = coalesce(${to.credentials === undefined ? null : JSON.stringify(to.credentials)}::text::jsonb, credentials),
      max_concurrent_calls = CASE WHEN ${to.maxConcurrentCalls === undefined} THEN max_concurrent_calls
        ELSE ${to.maxConcurrentCalls ?? null}::int END
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(first)

export const setAccount = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId, account: string | undefined) => sql`
  UPDATE phone_numbers SET account = ${account ?? null}::text
  WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${id} AND account IS DISTINCT FROM ${account ?? null}::text`

export const setDefault = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<TelephonyConfigRow>`
    UPDATE telephony_configurations SET is_default_outbound = true, updated_at = now()
    WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`.pipe(first)

/** Whoever is about to refer to it has done so when this returns, or finds it gone. */
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

/** Of these providers' configurations, how many have an empty field of that name. */
export const missing = (sql: Sql, organizationId: OrganizationId) =>
  sql<{ readonly telnyxKeys: number; readonly vonageSecrets: number }>`
    SELECT count(*) FILTER (WHERE provider = 'telnyx' AND coalesce(credentials ->> 'webhook_public_key', '') = '')::int AS telnyx_keys,
      count(*) FILTER (WHERE provider = 'vonage' AND coalesce(credentials ->> 'signature_secret', '') = '')::int AS vonage_secrets
    FROM telephony_configurations WHERE organization_id = ${organizationId}`.pipe(
    Effect.map((rows) => rows[0] ?? { telnyxKeys: 0, vonageSecrets: 0 })
  )
