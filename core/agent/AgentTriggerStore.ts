/** Finds the agent for the path of an API trigger. The versions of the agents are the truth; this table is their index. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import type { TriggeredAgent } from "./Agent.ts"
import { callable } from "./AgentStore.ts"

type Sql = SqlClient.SqlClient

export const find = (sql: Sql, organizationId: OrganizationId, path: string) =>
  sql<TriggeredAgent>`
    SELECT ${callable(sql)}, t.is_published, t.is_in_draft FROM agent_triggers t JOIN agents a ON a.id = t.agent_id
    WHERE t.path = ${path} AND t.organization_id = ${organizationId} AND a.organization_id = ${organizationId}`.pipe(
    Effect.map((rows) => rows[0])
  )

const triggersLock = 7_265_873

/** Without this lock, two agents that swap their paths at the same time would deadlock: only one claims paths at a time in an organization. */
export const lock = (sql: Sql, organizationId: OrganizationId) =>
  sql`SELECT pg_advisory_xact_lock(${triggersLock}::int, ${organizationId}::int)`

/** Updates the table from the agent's published version and draft. Returns false when another agent of the organization has one of the paths. */
export const claim = (sql: Sql, organizationId: OrganizationId, agentId: AgentId) =>
  sql`
    WITH named AS (
      SELECT data ->> 'trigger_path' AS path,
        bool_or(version_status = 'published' AND data -> 'enabled' IS DISTINCT FROM 'false') AS is_published,
        bool_or(version_status = 'draft' AND data -> 'enabled' IS DISTINCT FROM 'false') AS is_in_draft
      FROM agent_definitions
        CROSS JOIN LATERAL jsonb_path_query(definition, '$.nodes[*] ? (@.type == "trigger").data') AS data
      WHERE organization_id = ${organizationId} AND agent_id = ${agentId} AND version_status IN ('published', 'draft')
        AND data ->> 'trigger_path' IS NOT NULL
      GROUP BY 1
    ), gone AS (
      DELETE FROM agent_triggers WHERE organization_id = ${organizationId} AND agent_id = ${agentId}
        AND NOT EXISTS (SELECT 1 FROM named WHERE named.path = agent_triggers.path)
    ), kept AS (
      UPDATE agent_triggers SET is_published = named.is_published, is_in_draft = named.is_in_draft FROM named
      WHERE agent_triggers.path = named.path AND organization_id = ${organizationId} AND agent_id = ${agentId}
      RETURNING agent_triggers.path
    ), added AS (
      INSERT INTO agent_triggers (path, organization_id, agent_id, is_published, is_in_draft)
      SELECT path, ${organizationId}::int, ${agentId}::int, is_published, is_in_draft FROM named
      WHERE NOT EXISTS (SELECT 1 FROM kept WHERE kept.path = named.path)
      ON CONFLICT DO NOTHING RETURNING path
    )
    SELECT path FROM named WHERE path NOT IN (SELECT path FROM kept UNION ALL SELECT path FROM added)`.pipe(
    Effect.map((taken) => taken.length === 0)
  )
