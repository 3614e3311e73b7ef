/** Versions in Postgres, with sealed secrets. Call the writing functions under the agent's lock, see AgentStore. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentDefinitionId, type AgentId, type OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { newRowId, Sealer } from "#core/Sealer.ts"
import type { AgentContent, AgentVersion, AgentVersionRecord, VersionStatus } from "./Agent.ts"
import type { JsonObject } from "#core/Json.ts"
import { openedRows, sealed, type Stored } from "./SealedVersion.ts"

type Sql = SqlClient.SqlClient

const columns = (sql: Sql) =>
  sql.literal(
    `id AS definition_id, agent_id, organization_id, version_number, version_status, definition, configurations, template_context_variables, secrets`
  )

export const versionOf = (sql: Sql, id: AgentDefinitionId) =>
  sql<Stored<AgentVersion>>`SELECT ${columns(sql)} FROM agent_definitions WHERE id = ${id}`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

export const find = (sql: Sql, organizationId: OrganizationId, id: AgentDefinitionId) =>
  sql<Stored<AgentVersionRecord>>`
    SELECT ${columns(sql)}, created_at, published_at FROM agent_definitions WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

export const findDraft = (sql: Sql, organizationId: OrganizationId, agentId: AgentId) =>
  sql<Stored<AgentVersionRecord & { readonly isHeld: boolean }>>`
    SELECT ${columns(sql)}, created_at, published_at, is_held FROM agent_definitions
    WHERE organization_id = ${organizationId} AND agent_id = ${agentId} AND version_status = 'draft'`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

/** `versionNumber` counts the agent's own versions. */
export const numbered = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, versionNumber: number) =>
  sql<Stored<AgentVersionRecord>>`
    SELECT ${columns(sql)}, created_at, published_at FROM agent_definitions
    WHERE organization_id = ${organizationId} AND agent_id = ${agentId} AND version_number = ${versionNumber}`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

/** Newest first. */
export const list = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, page: Page) =>
  openedRows(sql<Stored<AgentVersionRecord>>`
    SELECT ${columns(sql)}, created_at, published_at FROM agent_definitions
    WHERE organization_id = ${organizationId} AND agent_id = ${agentId}
    ORDER BY version_number DESC LIMIT ${page.limit} OFFSET ${page.offset}`)

const json = (part: JsonObject) => JSON.stringify(part)

export interface NewVersion extends AgentContent {
  readonly status: VersionStatus
  /** The version is a draft only because its graph is not fit to be published; nobody began it. */
  readonly isHeld: boolean
}

/** Somebody has begun to work on the draft: from now on it is published only on request. */
export const begin = (sql: Sql, organizationId: OrganizationId, id: AgentDefinitionId) => sql`
  UPDATE agent_definitions SET is_held = false WHERE organization_id = ${organizationId} AND id = ${id}`

/** A version without its content, which is large and which the writer has already. */
type Made = Omit<AgentVersionRecord, keyof AgentContent>
const made = (sql: Sql) =>
  sql.literal("id AS definition_id, agent_id, organization_id, version_number, version_status, created_at, published_at")

/** Inserts the next version with the given status. */
export const insert = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, agentId: AgentId, version: NewVersion) {
  const id = AgentDefinitionId.make(yield* newRowId(sql, "agent_definitions"))
  const stored = sealed(yield* Sealer, { definitionId: id, organizationId }, version)
  return yield* sql<Made>`
    INSERT INTO agent_definitions (id, organization_id, agent_id, version_number, version_status, is_held, published_at, definition,
      configurations, template_context_variables, secrets)
    OVERRIDING SYSTEM VALUE
    SELECT ${id}::int, ${organizationId}::int, ${agentId}::int, coalesce(max(version_number), 0) + 1, ${version.status}::text,
      ${version.isHeld}::bool, CASE WHEN ${version.status}::text = 'published' THEN now() END, ${json(stored.definition)}::text::jsonb,
      ${json(stored.configurations)}::text::jsonb, ${json(stored.templateContextVariables)}::text::jsonb, ${stored.secrets}::text
    FROM agent_definitions WHERE agent_id = ${agentId}::int
    RETURNING ${made(sql)}`
})

export const archive = (sql: Sql, organizationId: OrganizationId, id: AgentDefinitionId) => sql`
  UPDATE agent_definitions SET version_status = 'archived' WHERE organization_id = ${organizationId} AND id = ${id}`

export const publishDraft = (sql: Sql, organizationId: OrganizationId, id: AgentDefinitionId) => sql<Made>`
  UPDATE agent_definitions SET version_status = 'published', published_at = now()
  WHERE organization_id = ${organizationId} AND id = ${id} AND version_status = 'draft'
  RETURNING ${made(sql)}`

/** Makes calls use this version from now on. */
export const makeCurrent = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, id: AgentDefinitionId) => sql`
  UPDATE agents SET current_definition_id = ${id} WHERE organization_id = ${organizationId} AND id = ${agentId}`
