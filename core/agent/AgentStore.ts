import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import type { FolderId } from "#core/folder/Folder.ts"
import type { AgentDefinitionId, AgentId, CampaignId, OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { runsOfAgent } from "./RunCount.ts"
import type { NamedTool } from "./ToolNames.ts"
import { openedRows, type Stored } from "./SealedVersion.ts"
import type { Agent, AgentContent, AgentCount, AgentStatus, AgentSummary, CallableAgent } from "./Agent.ts"

type Sql = SqlClient.SqlClient
const codesLimit = 1000

const summary = (sql: Sql) =>
  sql.literal(`a.id, a.name, a.status, a.created_at, a.folder_id, a.workflow_uuid, ${runsOfAgent} AS total_runs`)
const draft = "(SELECT id FROM agent_definitions WHERE agent_id = a.id AND version_status = 'draft')"

const shown = (sql: Sql) => sql`
  ${summary(sql)}, a.organization_id, a.current_definition_id,
  ARRAY(SELECT code FROM agent_dispositions WHERE agent_id = a.id ORDER BY code) AS disposition_codes`

const select = (sql: Sql, definitionId: string) => sql`
  SELECT ${shown(sql)},
    d.id AS definition_id, d.version_number, d.version_status, d.definition, d.configurations, d.template_context_variables, d.secrets
  FROM agents a JOIN agent_definitions d ON d.id = ${sql.literal(definitionId)}`

type StoredAgent = Stored<Agent & { readonly definitionId: AgentDefinitionId }>

/** Finds the agent without a version. */
export const findBare = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<Omit<Agent, keyof AgentContent | "versionNumber" | "versionStatus">>`
    SELECT ${shown(sql)} FROM agents a WHERE a.organization_id = ${organizationId} AND a.id = ${id}`

/** Finds the agent with its published version, or its draft if it has none. */
export const find = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<StoredAgent>`
    ${select(sql, `coalesce(a.current_definition_id, ${draft})`)} WHERE a.organization_id = ${organizationId} AND a.id = ${id}`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

/** Finds the agent with its draft, or its published version if it has none. */
export const findLatest = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<StoredAgent>`
    ${select(sql, `coalesce(${draft}, a.current_definition_id)`)} WHERE a.organization_id = ${organizationId} AND a.id = ${id}`.pipe(
    openedRows,
    Effect.map((rows) => rows[0])
  )

export const callable = (sql: Sql) =>
  sql.literal(
    `a.id, a.name, a.status, a.workflow_uuid, a.current_definition_id AS published_definition_id, ${draft} AS draft_definition_id`
  )

export const findByUuid = (sql: Sql, organizationId: OrganizationId, workflowUuid: string) =>
  sql<CallableAgent>`
    SELECT ${callable(sql)} FROM agents a WHERE a.organization_id = ${organizationId} AND a.workflow_uuid = ${workflowUuid}::uuid`.pipe(
    Effect.map((rows) => rows[0])
  )

export interface AgentSelection extends Page {
  readonly statuses: ReadonlyArray<AgentStatus>
  /** Only agents whose id is greater. */
  readonly after?: AgentId | undefined
}

const selected = (sql: Sql, organizationId: OrganizationId, { after, limit, offset, statuses }: AgentSelection) => sql`
  SELECT id FROM agents
  WHERE organization_id = ${organizationId} AND id > coalesce(${after ?? null}::int, 0) AND status = ANY(${statuses}::text[])
  ORDER BY id LIMIT ${limit}::int OFFSET ${offset}::int`

/** Selects the page first, so that runs are counted only for its agents. */
export const list = (sql: Sql, organizationId: OrganizationId, selection: AgentSelection) => sql<AgentSummary>`
  SELECT ${summary(sql)} FROM agents a
  WHERE a.organization_id = ${organizationId} AND a.id = ANY(ARRAY(${selected(sql, organizationId, selection)})) ORDER BY a.id`

export const names = (sql: Sql, organizationId: OrganizationId, selection: AgentSelection) => sql<Pick<Agent, "id" | "name">>`
  SELECT id, name FROM agents
  WHERE organization_id = ${organizationId} AND id = ANY(ARRAY(${selected(sql, organizationId, selection)})) ORDER BY id`

export const count = (sql: Sql, organizationId: OrganizationId) =>
  sql<AgentCount>`
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE status = 'active'))::int AS active,
      (count(*) FILTER (WHERE status = 'archived'))::int AS archived
    FROM agents WHERE organization_id = ${organizationId}`.pipe(Effect.map(([row]) => row ?? { total: 0, active: 0, archived: 0 }))

export const insert = (sql: Sql, organizationId: OrganizationId, name: string, folderId: FolderId | null) =>
  sql<{ readonly id: AgentId }>`
    INSERT INTO agents (organization_id, name, folder_id) VALUES (${organizationId}, ${name}, ${folderId}::int) RETURNING id`

/** Nobody else creates a version of the agent before the transaction ends. */
export const lock = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<{ readonly publishedId: AgentDefinitionId | null }>`
    SELECT current_definition_id AS published_id FROM agents WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`.pipe(
    Effect.map((rows) => rows[0])
  )

/** All names in the organization that begin like this, those of archived agents included. */
export const namesFrom = (sql: Sql, organizationId: OrganizationId, beginning: string) =>
  sql<{
    readonly name: string
  }>`SELECT name FROM agents WHERE organization_id = ${organizationId} AND starts_with(name, ${beginning})`.pipe(
    Effect.map((rows) => rows.map(({ name }) => name))
  )

export const rename = (sql: Sql, organizationId: OrganizationId, id: AgentId, name: string) => sql`
  UPDATE agents SET name = ${name} WHERE organization_id = ${organizationId} AND id = ${id}`

/** Returns false when there is no such folder; the caller has found the agent already. */
export const setFolder = (sql: Sql, organizationId: OrganizationId, id: AgentId, folderId: FolderId | null) =>
  sql`
    WITH folder AS (SELECT id FROM folders WHERE organization_id = ${organizationId} AND id = ${folderId}::int FOR KEY SHARE)
    UPDATE agents SET folder_id = (SELECT id FROM folder)
    WHERE organization_id = ${organizationId} AND id = ${id} AND (${folderId}::int IS NULL OR EXISTS (SELECT 1 FROM folder))
    RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))

export const setStatus = (sql: Sql, organizationId: OrganizationId, id: AgentId, status: AgentStatus) =>
  sql`UPDATE agents SET status = ${status} WHERE organization_id = ${organizationId} AND id = ${id} RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

/** Must be a separate statement after the agent's own, so that it sees campaigns whose start the agent's update waited for. Campaigns that the engine would resume stay paused. */
export const pauseCampaigns = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<{ readonly campaignId: CampaignId }>`
    WITH stopped AS (
      UPDATE campaigns SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = NULL, updated_at = now()
      WHERE organization_id = ${organizationId} AND agent_id = ${id} AND (state = 'running' OR state = 'paused' AND resume_tries IS NOT NULL)
      RETURNING id, organization_id
    )
    ${intoCampaignLog(sql)}
    SELECT organization_id, id, ${logEntry(sql, { level: "warning", event: "agent_archived", message: "Paused: the agent was archived." })} FROM stopped RETURNING campaign_id`.pipe(
    Effect.map((rows) => rows.map(({ campaignId }) => campaignId))
  )

/** All dispositions of the organization's finished calls, in alphabetical order. */
export const dispositionCodes = (sql: Sql, organizationId: OrganizationId) =>
  sql<{ readonly code: string }>`
    SELECT DISTINCT code FROM agent_dispositions WHERE organization_id = ${organizationId} ORDER BY code LIMIT ${codesLimit}`.pipe(
    Effect.map((rows) => rows.map(({ code }) => code))
  )

/** Those of the given tools that the language model calls under their own name. */
export const namedTools = (sql: Sql, organizationId: OrganizationId, uuids: ReadonlyArray<string>) => sql<NamedTool>`
  SELECT tool_uuid AS uuid, name FROM tools
  WHERE organization_id = ${organizationId} AND tool_uuid = ANY(${uuids}::uuid[]) AND category NOT IN ('calculator', 'mcp')`
