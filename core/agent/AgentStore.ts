import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentDefinitionId, AgentId, CampaignId, OrganizationId } from "../Id.ts"
import type { Agent, AgentStatus, AgentSummary, AgentVersion, JsonObject } from "./Agent.ts"

type Sql = SqlClient.SqlClient
const listLimit = 1000

export interface VersionContent {
  readonly definition: JsonObject
  readonly configurations: JsonObject
  readonly templateContextVariables: JsonObject
}

const summary = (sql: Sql) =>
  sql.literal(
    "a.id, a.name, a.status, a.created_at, a.workflow_uuid, (SELECT count(*)::int FROM runs r WHERE r.agent_id = a.id) AS total_runs"
  )
const version = (sql: Sql) =>
  sql.literal("d.version_number, d.version_status, d.definition, d.configurations, d.template_context_variables")

const select = (sql: Sql) => sql`
  SELECT ${summary(sql)}, a.organization_id, a.current_definition_id, a.disposition_codes, ${version(sql)}
  FROM agents a JOIN agent_definitions d ON d.id = a.current_definition_id`

export const find = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<Agent>`${select(sql)} WHERE a.organization_id = ${organizationId} AND a.id = ${id}`.pipe(Effect.map((rows) => rows[0]))

export const findByUuid = (sql: Sql, organizationId: OrganizationId, workflowUuid: string) =>
  sql<Pick<Agent, "id" | "name" | "status">>`
    SELECT id, name, status FROM agents WHERE organization_id = ${organizationId} AND workflow_uuid = ${workflowUuid}::uuid`.pipe(
    Effect.map((rows) => rows[0])
  )

export const list = (sql: Sql, organizationId: OrganizationId, statuses: ReadonlyArray<AgentStatus>) => sql<AgentSummary>`
  SELECT ${summary(sql)} FROM agents a
  WHERE a.organization_id = ${organizationId} AND a.status = ANY(${statuses}::text[]) ORDER BY a.id LIMIT ${listLimit}`

export const insert = (sql: Sql, organizationId: OrganizationId, name: string) =>
  sql<{ readonly id: AgentId }>`INSERT INTO agents (organization_id, name) VALUES (${organizationId}, ${name}) RETURNING id`

/** Until the transaction ends no one else makes a version of the agent. */
export const lock = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<{ readonly currentDefinitionId: AgentDefinitionId }>`
    SELECT current_definition_id FROM agents WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`.pipe(
    Effect.map((rows) => rows[0])
  )

export const rename = (sql: Sql, organizationId: OrganizationId, id: AgentId, name: string) => sql`
  UPDATE agents SET name = ${name} WHERE organization_id = ${organizationId} AND id = ${id}`

/** Publishes a version made of what is given, and for the rest of the version before. To be called under `lock`. */
export const publish = (
  sql: Sql,
  organizationId: OrganizationId,
  id: AgentId,
  given: { readonly [Part in keyof VersionContent]?: JsonObject | undefined }
) => {
  const json = (part: JsonObject | undefined) => (part === undefined ? null : JSON.stringify(part))
  return sql`
    WITH before AS (
      UPDATE agent_definitions d SET version_status = 'archived' FROM agents a
      WHERE a.organization_id = ${organizationId} AND a.id = ${id} AND d.id = a.current_definition_id
      RETURNING d.definition, d.configurations, d.template_context_variables
    ), published AS (
      INSERT INTO agent_definitions
        (organization_id, agent_id, version_number, version_status, published_at, definition, configurations, template_context_variables)
      SELECT ${organizationId}::int, ${id}::int,
        (SELECT coalesce(max(version_number), 0) + 1 FROM agent_definitions WHERE agent_id = ${id}::int), 'published', now(),
        coalesce(${json(given.definition)}::text::jsonb, b.definition, '{}'),
        coalesce(${json(given.configurations)}::text::jsonb, b.configurations, '{}'),
        coalesce(${json(given.templateContextVariables)}::text::jsonb, b.template_context_variables, '{}')
      FROM (SELECT 1) AS one LEFT JOIN before b ON true
      RETURNING id
    )
    UPDATE agents SET current_definition_id = published.id FROM published
    WHERE agents.organization_id = ${organizationId} AND agents.id = ${id}`
}

export const setStatus = (sql: Sql, organizationId: OrganizationId, id: AgentId, status: AgentStatus) =>
  sql`UPDATE agents SET status = ${status} WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** A statement of its own, after the agent's: it sees campaigns whose start was waited for. */
export const pauseCampaigns = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<{ readonly campaignId: CampaignId }>`
    WITH stopped AS (
      UPDATE campaigns SET state = 'paused', dial_epoch = dial_epoch + 1, updated_at = now()
      WHERE organization_id = ${organizationId} AND agent_id = ${id} AND state = 'running' RETURNING id, organization_id
    )
    INSERT INTO campaign_log (organization_id, campaign_id, level, event, message)
    SELECT organization_id, id, 'warning', 'agent_archived', 'Paused: the agent was archived.' FROM stopped RETURNING campaign_id`.pipe(
    Effect.map((rows) => rows.map(({ campaignId }) => campaignId))
  )

export const versionOf = (sql: Sql, id: AgentDefinitionId) =>
  sql<AgentVersion>`
    SELECT d.id AS definition_id, d.agent_id, d.organization_id, ${version(sql)} FROM agent_definitions d WHERE d.id = ${id}`.pipe(
    Effect.map((rows) => rows[0])
  )
