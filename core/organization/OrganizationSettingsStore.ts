import type { SqlClient } from "effect/sql"
import type { CampaignId, OrganizationId } from "#core/Id.ts"
import type { Concurrency, Preferences } from "./Organization.ts"

type Sql = SqlClient.SqlClient

const preferenceColumns = (sql: Sql) => sql.literal("test_phone_number, timezone, external_pbx_integrations_enabled")
const concurrencyColumns = (sql: Sql) => sql.literal(`concurrency_limit AS "limit", concurrency_reserve AS reserve`)

export const providerId = (sql: Sql, id: OrganizationId) =>
  sql<{ readonly providerId: string | null }>`SELECT provider_id FROM organizations WHERE id = ${id}`

export const preferences = (sql: Sql, id: OrganizationId) =>
  sql<Preferences>`SELECT ${preferenceColumns(sql)} FROM organizations WHERE id = ${id}`

export const setPreferences = (sql: Sql, id: OrganizationId, given: Preferences) => sql<Preferences>`
  UPDATE organizations SET test_phone_number = ${given.testPhoneNumber}, timezone = ${given.timezone},
    external_pbx_integrations_enabled = ${given.externalPbxIntegrationsEnabled}
  WHERE id = ${id} RETURNING ${preferenceColumns(sql)}`

export const concurrency = (sql: Sql, id: OrganizationId) =>
  sql<Concurrency>`SELECT ${concurrencyColumns(sql)} FROM organizations WHERE id = ${id}`

export const setConcurrency = (sql: Sql, id: OrganizationId, { limit, reserve }: Concurrency) => sql<Concurrency>`
  UPDATE organizations SET concurrency_limit = ${limit}, concurrency_reserve = ${reserve} WHERE id = ${id}
  RETURNING ${concurrencyColumns(sql)}`

// Reads every running campaign of the installation: the index is on the state, not on the organization.
export const running = (sql: Sql, id: OrganizationId) =>
  sql<{ readonly id: CampaignId }>`SELECT id FROM campaigns WHERE organization_id = ${id} AND state = 'running'`
