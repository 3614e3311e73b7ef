/**
 * The queue of webhook node deliveries. Engine nodes divide the deliveries among themselves: a node that claims one owns it until the lease
 * ends. An organization never has more than its share of the deliveries that one engine node sends at once, however many are due.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type WebhookNode, webhookNodeOf } from "#core/agent/WebhookNode.ts"
import { ofNode, secretsIn } from "#core/agent/SealedVersion.ts"
import { putTogether } from "#core/agent/SecretParts.ts"
import type { AgentDefinitionId, OrganizationId, RunId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import { type Place, sealedJson, Sealer, type Seals } from "#core/Sealer.ts"
import { keptFor, prunedAtOnce } from "#core/event/EventStore.ts"
import type { NodeWebhookId } from "./NodeWebhook.ts"
import type { Rendered, ToldRun } from "./NodeWebhookRequest.ts"
import type { Outcome } from "./NodeWebhookTries.ts"
import type { Headers } from "./RequestHeaders.ts"

/** Longer than any try takes. */
const leaseFor = "90 seconds"

export interface ClaimedNodeWebhook {
  readonly id: NodeWebhookId
  readonly organizationId: OrganizationId
  readonly runId: RunId
  readonly nodeId: string
  /** Tries before this one. */
  readonly attempts: number
  readonly lease: number
}

interface Claim {
  readonly limit: number
  readonly limitOfOrganization: number
  /** How many deliveries of each organization this engine node is already sending. */
  readonly sending: ReadonlyMap<OrganizationId, number>
}

/** Everything that a request is built from, except the credential. */
export interface NodeWebhookJob {
  /** Undefined if the definition of the call's agent version has no such node. */
  readonly node: WebhookNode | undefined
  readonly run: ToldRun
  /** Undefined before the first try. */
  readonly rendered: Rendered | undefined
}

export interface TriedNodeWebhook extends Outcome {
  /** False if the delivery failed without a request, because it can never be sent. */
  readonly wasSent: boolean
}

export class NodeWebhookQueue extends Context.Service<
  NodeWebhookQueue,
  {
    /**
     * Claims deliveries that are due: first those of the organizations with the fewest in flight on this node, and within an organization
     * the one that has been due longest. Two callers never hold the same delivery while its lease lasts.
     */
    readonly claim: (claim: Claim) => Effect.Effect<ReadonlyArray<ClaimedNodeWebhook>>
    /** Undefined if the run was deleted, and the delivery with it. */
    readonly jobOf: (claimed: ClaimedNodeWebhook) => Effect.Effect<NodeWebhookJob | undefined>
    /** Stores the rendered request unless one is already stored, and returns the stored one: another node may have been first. */
    readonly keep: (claimed: ClaimedNodeWebhook, rendered: Rendered) => Effect.Effect<Rendered>
    readonly record: (claimed: ClaimedNodeWebhook, tried: TriedNodeWebhook) => Effect.Effect<void>
    /** Gives the delivery back untried. Does nothing if the lease has ended and another node has claimed it. */
    readonly release: (claimed: ClaimedNodeWebhook) => Effect.Effect<void>
    /** Milliseconds until the next delivery becomes due, not counting those that are due already; undefined if there is none. */
    readonly nextDueIn: Effect.Effect<number | undefined>
    /**
     * Deletes one batch of stored requests whose deliveries were settled longer ago than events are kept. Returns whether there may be more.
     * A replay of such a delivery renders its request again, from what the run's record says at that time.
     */
    readonly prune: Effect.Effect<boolean>
  }
>()("core/webhook/NodeWebhookQueue") {
  static readonly layer = Layer.effect(
    NodeWebhookQueue,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      return NodeWebhookQueue.of({
        claim: (asked) => Effect.orDie(claim(sql, asked)),
        jobOf: (claimed) => Effect.orDie(jobOf(sql, sealer, claimed)),
        keep: (claimed, rendered) => Effect.orDie(keep(sql, sealer, claimed, rendered)),
        record: (claimed, tried) => Effect.orDie(record(sql, claimed, tried)),
        release: (claimed) => Effect.orDie(release(sql, claimed)),
        nextDueIn: Effect.orDie(nextDueIn(sql)),
        prune: Effect.orDie(prune(sql))
      })
    })
  )
}

type Sql = SqlClient.SqlClient

/** The organizations with pending deliveries. Each is found by one index lookup, without reading its other deliveries. */
const waiting = (sql: Sql) => sql`
  waiting AS (
    (SELECT organization_id FROM node_webhook_deliveries WHERE state = 'pending' ORDER BY organization_id LIMIT 1)
    UNION ALL
    SELECT (SELECT d.organization_id FROM node_webhook_deliveries d
      WHERE d.state = 'pending' AND d.organization_id > waiting.organization_id ORDER BY d.organization_id LIMIT 1)
    FROM waiting WHERE waiting.organization_id IS NOT NULL
  )`

const claim = (sql: Sql, { limit, limitOfOrganization, sending }: Claim) => {
  const busy = [...sending].map(([organization_id, deliveries]) => ({ organization_id, deliveries }))
  return sql<ClaimedNodeWebhook>`
    WITH RECURSIVE ${waiting(sql)}, busy AS (
      SELECT organization_id, deliveries FROM jsonb_to_recordset(${JSON.stringify(busy)}::text::jsonb) AS b (organization_id int, deliveries int)
    ), chosen AS (
      SELECT due.id FROM waiting LEFT JOIN busy USING (organization_id) CROSS JOIN LATERAL (
        SELECT id, due_at FROM node_webhook_deliveries
        WHERE organization_id = waiting.organization_id AND state = 'pending' AND due_at <= now()
        ORDER BY due_at LIMIT greatest(0, ${limitOfOrganization}::int - coalesce(busy.deliveries, 0)) FOR UPDATE SKIP LOCKED
      ) AS due
      -- Organizations with the fewest deliveries in flight come first, however long others have waited.
      ORDER BY coalesce(busy.deliveries, 0) + row_number() OVER (PARTITION BY organization_id ORDER BY due.due_at), due.due_at
      LIMIT ${limit}::int
    )
    UPDATE node_webhook_deliveries d SET due_at = now() + ${leaseFor}::text::interval, lease = lease + 1
    FROM chosen WHERE d.id = chosen.id
    RETURNING d.id, d.organization_id, d.run_id, d.node_id, d.attempts, d.lease`
}

/** The stored request. Headers and body are sealed together, as a string in `headers`, because a template may hold a secret. */
interface KeptRequest {
  readonly headers: Headers | string | null
  /** Set only for requests that were stored before requests were sealed. */
  readonly body: string | null
}

const placeOf = (id: string, organizationId: OrganizationId): Place => ({ of: "node_webhook_deliveries", organizationId, id })

const renderedOf = (sealer: Seals, { id, organizationId }: ClaimedNodeWebhook, { body, headers }: KeptRequest): Rendered | undefined => {
  if (headers === null) return undefined
  // `keep` sealed the JSON of a `Rendered`.
  if (typeof headers === "string") return JSON.parse(sealer.open(placeOf(id, organizationId), headers)) as Rendered
  return { headers, body: body ?? undefined }
}

interface JobRow extends Row<ToldRun>, KeptRequest {
  readonly node: unknown
  readonly nodeAt: number | null
  readonly secrets: string | null
  readonly definitionId: AgentDefinitionId
}

const jobOf = (sql: Sql, sealer: Seals, claimed: ClaimedNodeWebhook) =>
  sql<JobRow>`
    SELECT r.id, r.name, r.agent_id, a.name AS agent_name, r.campaign_id, r.created_at, r.initial_context, r.gathered_context, r.usage_info,
      r.cost_info, r.annotations, r.transcript_key, r.recording_key, d.headers, d.body, r.agent_definition_id AS definition_id, v.secrets,
      node.value AS node, node.at::int - 1 AS node_at
    FROM node_webhook_deliveries d JOIN runs r ON r.id = d.run_id JOIN agents a ON a.id = r.agent_id
      LEFT JOIN agent_definitions v ON v.id = r.agent_definition_id
      LEFT JOIN LATERAL (
        SELECT value, at FROM jsonb_array_elements(jsonb_path_query_array(v.definition, '$.nodes[*]')) WITH ORDINALITY AS nodes (value, at)
        WHERE value @> jsonb_build_object('type', 'webhook', 'id', ${claimed.nodeId}::text) ORDER BY at LIMIT 1
      ) AS node ON true
    WHERE d.id = ${claimed.id}::uuid AND d.organization_id = ${claimed.organizationId}`.pipe(
    Effect.map(([row]): NodeWebhookJob | undefined => {
      if (row === undefined) return undefined
      const { body, definitionId, headers, node, nodeAt, secrets, ...run } = row
      const version = { definitionId, organizationId: claimed.organizationId }
      return {
        node: nodeAt === null ? undefined : webhookNodeOf(putTogether(node, ofNode(secretsIn(sealer, version, secrets), nodeAt))),
        rendered: renderedOf(sealer, claimed, { body, headers }),
        run: {
          ...run,
          campaignId: run.campaignId ?? undefined,
          gatheredContext: run.gatheredContext ?? undefined,
          usageInfo: run.usageInfo ?? undefined,
          costInfo: run.costInfo ?? undefined,
          annotations: run.annotations ?? undefined,
          transcriptKey: run.transcriptKey ?? undefined,
          recordingKey: run.recordingKey ?? undefined
        }
      }
    })
  )

const keep = (sql: Sql, sealer: Seals, claimed: ClaimedNodeWebhook, rendered: Rendered) =>
  sql<KeptRequest>`
    UPDATE node_webhook_deliveries
    SET headers = coalesce(headers, ${sealedJson(sealer, placeOf(claimed.id, claimed.organizationId), rendered)}::text::jsonb)
    WHERE id = ${claimed.id}::uuid AND organization_id = ${claimed.organizationId} RETURNING headers, body`.pipe(
    Effect.map(([kept]) => (kept === undefined ? undefined : renderedOf(sealer, claimed, kept)) ?? rendered)
  )

// A success counts even if the node that sent the request has lost its lease. A failure counts only for the holder of the lease.
const record = (sql: Sql, { id, lease, organizationId }: ClaimedNodeWebhook, tried: TriedNodeWebhook) =>
  sql`
    UPDATE node_webhook_deliveries SET state = ${tried.state}, last_status = ${tried.status ?? null}::smallint,
      last_error = ${tried.error ?? null}::text, attempts = attempts + ${tried.wasSent ? 1 : 0}::int,
      last_attempt_at = CASE WHEN ${tried.wasSent}::bool THEN now() ELSE last_attempt_at END,
      settled_at = CASE WHEN ${tried.state} <> 'pending' THEN now() END,
      due_at = CASE WHEN ${tried.state} = 'pending' THEN now() + make_interval(secs => ${tried.dueInMillis / 1000}::float8) ELSE due_at END
    WHERE id = ${id}::uuid AND organization_id = ${organizationId} AND state = 'pending'
      AND (lease = ${lease}::int OR ${tried.state} = 'succeeded')`.pipe(Effect.asVoid)

const release = (sql: Sql, { id, lease, organizationId }: ClaimedNodeWebhook) =>
  sql`
    UPDATE node_webhook_deliveries SET due_at = now()
    WHERE id = ${id}::uuid AND organization_id = ${organizationId} AND state = 'pending' AND lease = ${lease}::int`.pipe(Effect.asVoid)

const nextDueIn = (sql: Sql) =>
  sql<{ readonly dueIn: number | null }>`
    WITH RECURSIVE ${waiting(sql)}
    SELECT extract(epoch FROM min(next.due_at) - clock_timestamp())::float8 * 1000 AS due_in
    FROM waiting CROSS JOIN LATERAL (
      SELECT due_at FROM node_webhook_deliveries
      WHERE organization_id = waiting.organization_id AND state = 'pending' AND due_at > now() ORDER BY due_at LIMIT 1
    ) AS next`.pipe(Effect.map(([row]) => (typeof row?.dueIn === "number" ? Math.max(0, row.dueIn) : undefined)))

const prune = (sql: Sql) =>
  sql`
    UPDATE node_webhook_deliveries SET headers = NULL, body = NULL WHERE id = ANY (ARRAY(
      SELECT id FROM node_webhook_deliveries
      WHERE state <> 'pending' AND headers IS NOT NULL AND settled_at < now() - ${keptFor}::text::interval
      ORDER BY settled_at LIMIT ${prunedAtOnce}::int FOR UPDATE SKIP LOCKED))
    RETURNING id`.pipe(Effect.map((rows) => rows.length === prunedAtOnce))
