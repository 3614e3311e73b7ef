import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { AgentId, CampaignId, OrganizationId, RunId } from "../Id.ts"
import type { Run } from "./Run.ts"
import type { RunFilter } from "./RunFilter.ts"

type Sql = SqlClient.SqlClient

/** What Postgres has as null, we have as undefined. */
type Row = { readonly [Key in keyof Run]: undefined extends Run[Key] ? Exclude<Run[Key], undefined> | null : Run[Key] }

const runOf = (row: Row): Run => ({
  ...row,
  campaignId: row.campaignId ?? undefined,
  completedAt: row.completedAt ?? undefined,
  gatheredContext: row.gatheredContext ?? undefined,
  usageInfo: row.usageInfo ?? undefined,
  costInfo: row.costInfo ?? undefined,
  logs: row.logs ?? undefined,
  annotations: row.annotations ?? undefined,
  transcriptKey: row.transcriptKey ?? undefined,
  recordingKey: row.recordingKey ?? undefined
})

const columns = (sql: Sql) =>
  sql.literal(`id, organization_id, agent_id, agent_definition_id AS definition_id, campaign_id, attempt_id AS call_id, name, mode, call_type,
    is_completed, created_at, completed_at, initial_context, gathered_context, usage_info, cost_info, logs, annotations,
    transcript_key, recording_key`)

export const find = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, id: RunId) =>
  sql<Row>`
    SELECT ${columns(sql)} FROM runs WHERE id = ${id} AND organization_id = ${organizationId} AND agent_id = ${agentId}`.pipe(
    Effect.map((rows) => rows.map(runOf)[0])
  )

export const hasCampaign = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql`SELECT 1 FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(Effect.map((rows) => rows.length > 0))

const condition = (sql: Sql, filter: RunFilter): Statement.Fragment => {
  switch (filter.attribute) {
    case "dateRange":
      return sql`(${filter.from ?? null}::timestamptz IS NULL OR created_at >= ${filter.from ?? null}::timestamptz)
        AND (${filter.to ?? null}::timestamptz IS NULL OR created_at <= ${filter.to ?? null}::timestamptz)`
    case "dispositionCode":
      return sql`gathered_context ->> 'mapped_call_disposition' = ANY(${filter.codes}::text[])`
    case "duration":
      return sql`(usage_info ->> 'call_duration_seconds')::float8 BETWEEN ${filter.min ?? "-Infinity"}::float8 AND ${filter.max ?? "Infinity"}::float8`
    case "tokenUsage":
      return sql`(cost_info ->> 'total_cost_usd')::float8 BETWEEN ${filter.min ?? "-Infinity"}::float8 AND ${filter.max ?? "Infinity"}::float8`
    case "status":
      return sql`is_completed = ${filter.isCompleted}`
  }
}

export interface RunSelection {
  readonly organizationId: OrganizationId
  readonly campaignId: CampaignId
  readonly filters: ReadonlyArray<RunFilter>
}

const where = (sql: Sql, { campaignId, filters, organizationId }: RunSelection) =>
  sql`WHERE ${sql.and([
    sql`campaign_id = ${campaignId}`,
    sql`organization_id = ${organizationId}`,
    ...filters.map((filter) => condition(sql, filter))
  ])}`

export const count = (sql: Sql, selection: RunSelection) =>
  sql<{ readonly count: number }>`SELECT count(*)::int AS count FROM runs ${where(sql, selection)}`.pipe(
    Effect.map((rows) => rows[0]?.count ?? 0)
  )

export const list = (
  sql: Sql,
  selection: RunSelection,
  page: { readonly by: "created_at" | "duration"; readonly ascending: boolean; readonly limit: number; readonly offset: number }
) => {
  const direction = page.ascending ? "ASC" : "DESC"
  const order =
    page.by === "duration"
      ? `(usage_info ->> 'call_duration_seconds')::float8 ${direction} NULLS LAST, id ${direction}`
      : `created_at ${direction}, id ${direction}`
  return sql<Row>`
    SELECT ${columns(sql)} FROM runs ${where(sql, selection)}
    ORDER BY ${sql.literal(order)} LIMIT ${page.limit} OFFSET ${page.offset}`.pipe(Effect.map((rows) => rows.map(runOf)))
}
