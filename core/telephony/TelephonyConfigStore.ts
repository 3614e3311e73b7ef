import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId, TelephonyConfigId } from "../Id.ts"
import type { TelephonyAccess } from "./TelephonyConfig.ts"

type Sql = SqlClient.SqlClient

export interface TelephonyConfigRow extends TelephonyAccess {
  readonly name: string
  readonly isDefaultOutbound: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

const listLimit = 1000
const columns = (sql: Sql) => sql.literal("id, organization_id, name, provider, credentials, is_default_outbound, created_at, updated_at")

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
  }
) => sql<TelephonyConfigRow>`
  INSERT INTO telephony_configurations (organization_id, name, provider, credentials, is_default_outbound)
  VALUES (${config.organizationId}, ${config.name}, ${config.provider}, ${JSON.stringify(config.credentials)}::text::jsonb,
    ${config.isDefaultOutbound})
  RETURNING ${columns(sql)}`

export const list = (sql: Sql, organizationId: OrganizationId) => sql<TelephonyConfigRow>`
  SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${listLimit}`

export const find = (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
    Effect.map((rows) => rows[0])
  )

/** The default one, or else the only one that there is. */
export const findDefault = (sql: Sql, organizationId: OrganizationId) =>
  sql<TelephonyConfigRow>`
    SELECT ${columns(sql)} FROM telephony_configurations WHERE organization_id = ${organizationId}
    ORDER BY is_default_outbound DESC, id LIMIT 2`.pipe(
    Effect.map((rows) => (rows[0]?.isDefaultOutbound === true || rows.length === 1 ? rows[0] : undefined))
  )

export const access = (sql: Sql, id: TelephonyConfigId) =>
  sql<TelephonyAccess>`SELECT id, organization_id, provider, credentials FROM telephony_configurations WHERE id = ${id}`.pipe(
    Effect.map((rows) => rows[0])
  )
