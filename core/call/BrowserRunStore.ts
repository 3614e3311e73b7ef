import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentDefinitionId, AgentId, OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { storableJson } from "#core/storable.ts"
import { type BrowserRun, browserMode, callTypeOf } from "./BrowserRun.ts"

type Sql = SqlClient.SqlClient

interface NewRun {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly name: string
  readonly initialContext: JsonObject
}

export const create = (sql: Sql, { agentId, definitionId, initialContext, name, organizationId }: NewRun) =>
  sql<BrowserRun>`
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, name, mode, call_type, initial_context)
    VALUES (${organizationId}::int, ${agentId}::int, ${definitionId}::int, ${name}, ${browserMode}, ${callTypeOf(initialContext)},
      ${storableJson(initialContext)}::text::jsonb)
    RETURNING id, agent_id, agent_definition_id AS definition_id, name, created_at, initial_context`.pipe(
    Effect.flatMap(([row]) => (row === undefined ? Effect.die("No run was written") : Effect.succeed(row)))
  )
