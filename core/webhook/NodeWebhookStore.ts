import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { ofNode, secretsIn } from "#core/agent/SealedVersion.ts"
import { putTogether } from "#core/agent/SecretParts.ts"
import type { AgentDefinitionId, AgentId, OrganizationId, RunId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import { Sealer } from "#core/Sealer.ts"
import type { NodeWebhook, NodeWebhookId, NodeWebhookState } from "./NodeWebhook.ts"

type Sql = SqlClient.SqlClient

/** The fields that come from a delivery's row; the others come from its node. */
type DeliveryRow = Omit<NodeWebhook, "name" | "method" | "url">

/** The webhook nodes in the definition of the agent version that was on the call. Undefined if there is no such run. */
export const nodesOfRun = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, runId: RunId) =>
  Effect.gen(function* () {
    const sealer = yield* Sealer
    const [run] = yield* sql<{
      readonly nodes: ReadonlyArray<{ readonly at: number; readonly node: unknown }>
      readonly definitionId: AgentDefinitionId
      readonly secrets: string | null
    }>`
      SELECT r.agent_definition_id AS definition_id, v.secrets, coalesce((
        SELECT jsonb_agg(jsonb_build_object('at', at - 1, 'node', value) ORDER BY at)
        FROM jsonb_array_elements(jsonb_path_query_array(v.definition, '$.nodes[*]')) WITH ORDINALITY AS nodes (value, at)
        WHERE value @> '{"type": "webhook"}'), '[]') AS nodes
      FROM runs r LEFT JOIN agent_definitions v ON v.id = r.agent_definition_id
      WHERE r.organization_id = ${organizationId} AND r.agent_id = ${agentId} AND r.id = ${runId}`
    if (run === undefined) return undefined
    const secrets = secretsIn(sealer, { definitionId: run.definitionId, organizationId }, run.secrets)
    return run.nodes.map(({ at, node }) => putTogether(node, ofNode(secrets, at)))
  })

/** A run has at most a hundred: see `sending_nodes` in core/migrations/0011_node_webhooks.sql. */
export const list = (sql: Sql, organizationId: OrganizationId, runId: RunId) =>
  sql<Row<DeliveryRow>>`
    SELECT id, node_id, state, attempts, due_at, last_attempt_at, last_status, last_error, created_at
    FROM node_webhook_deliveries WHERE organization_id = ${organizationId} AND run_id = ${runId} ORDER BY node_id`.pipe(
    Effect.map((rows) =>
      rows.map(
        (row): DeliveryRow => ({
          ...row,
          lastAttemptAt: row.lastAttemptAt ?? undefined,
          lastStatus: row.lastStatus ?? undefined,
          lastError: row.lastError ?? undefined
        })
      )
    )
  )

/** Makes a dead-lettered delivery pending again and resets its tries. False if it does not exist or is not dead-lettered. */
export const replay = (sql: Sql, organizationId: OrganizationId, runId: RunId, id: NodeWebhookId) =>
  sql<{ readonly count: number }>`
    WITH replayed AS (
      UPDATE node_webhook_deliveries SET state = 'pending', attempts = 0, due_at = now(), settled_at = NULL
      WHERE organization_id = ${organizationId} AND run_id = ${runId} AND id = ${id}::uuid AND state = 'dead_letter'
      RETURNING pg_notify('trunkline_events', 'nodeWebhooks')
    )
    SELECT count(*)::int AS count FROM replayed`.pipe(Effect.map((rows) => rows[0]?.count === 1))

export const stateOf = (sql: Sql, organizationId: OrganizationId, runId: RunId, id: NodeWebhookId) =>
  sql<{ readonly state: NodeWebhookState }>`
    SELECT state FROM node_webhook_deliveries WHERE organization_id = ${organizationId} AND run_id = ${runId} AND id = ${id}::uuid`.pipe(
    Effect.map((rows) => rows[0]?.state)
  )
