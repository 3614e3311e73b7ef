import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { AgentId, CampaignId, OrganizationId, RunId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import { spanOf, type Span } from "./DateBound.ts"
import { calledNumberSql, callerNumberSql, costSql, dispositionSql, durationSql } from "./recordedValues.ts"
import type { Run } from "./Run.ts"
import type { RunFilter } from "./RunFilter.ts"

type Sql = SqlClient.SqlClient

const runOf = (row: Row<Run>): Run => ({
  ...row,
  campaignId: row.campaignId ?? undefined,
  callId: row.callId ?? undefined,
  completedAt: row.completedAt ?? undefined,
  gatheredContext: row.gatheredContext ?? undefined,
  usageInfo: row.usageInfo ?? undefined,
  costInfo: row.costInfo ?? undefined,
  cost: row.cost ?? undefined,
  logs: row.logs ?? undefined,
  annotations: row.annotations ?? undefined,
  transcriptKey: row.transcriptKey ?? undefined,
  recordingKey: row.recordingKey ?? undefined
})

const columns = (sql: Sql) =>
  sql.literal(`id, organization_id, agent_id, agent_definition_id AS definition_id, campaign_id, attempt_id AS call_id, name, mode, call_type,
    is_completed, created_at, completed_at, initial_context, gathered_context, usage_info, cost_info, cost, logs, annotations,
    transcript_key, recording_key`)

export const find = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, id: RunId) =>
  sql<Row<Run>>`
    SELECT ${columns(sql)} FROM runs WHERE id = ${id} AND organization_id = ${organizationId} AND agent_id = ${agentId}`.pipe(
    Effect.map((rows) => rows.map(runOf)[0])
  )

/** Whether the organization has a run with this id. */
export const owns = (sql: Sql, organizationId: OrganizationId, id: RunId) =>
  sql`SELECT 1 FROM runs WHERE organization_id = ${organizationId}::int AND id = ${id}::int`.pipe(Effect.map((rows) => rows.length > 0))

export const hasCampaign = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql`SELECT 1 FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(Effect.map((rows) => rows.length > 0))

const webModes = ["smallwebrtc", "webrtc"]
const chatModes = ["textchat", "CHAT"]

// A missing bound is left out: with a parameter that can be null, the planner would not use the index.
const created = (sql: Sql, { from, until }: Span): ReadonlyArray<Statement.Fragment> => [
  ...(from === undefined ? [] : [sql`r.created_at >= ${from}::timestamptz`]),
  ...(until === undefined ? [] : [sql`r.created_at < ${until}::timestamptz`])
]

const conditions = (sql: Sql, filter: RunFilter, timeZone: string): ReadonlyArray<Statement.Fragment> => {
  switch (filter.attribute) {
    case "dateRange":
      return created(sql, spanOf(filter, timeZone))
    case "dispositionCode":
      return [sql`${sql.literal(dispositionSql)} = ANY(${filter.codes}::text[])`]
    case "duration":
      return [sql`${sql.literal(durationSql)} BETWEEN ${filter.min ?? "-Infinity"}::float8 AND ${filter.max ?? "Infinity"}::float8`]
    case "tokenUsage":
      return [sql`${sql.literal(costSql)} BETWEEN ${filter.min ?? "-Infinity"}::float8 AND ${filter.max ?? "Infinity"}::float8`]
    case "status":
      return [sql`r.is_completed = ${filter.isCompleted}`]
    case "runId":
      return [sql`r.id = ${filter.value}::int`]
    case "workflowId":
      return [sql`r.agent_id = ${filter.value}::int`]
    case "campaignId":
      return [sql`r.campaign_id = ${filter.value}::int`]
    case "callerNumber":
      return [sql`strpos(${sql.literal(callerNumberSql)}, ${filter.value}::text) > 0`]
    case "calledNumber":
      return [sql`strpos(${sql.literal(calledNumberSql)}, ${filter.value}::text) > 0`]
    case "callDirection":
      return [sql`r.call_type = ${filter.callType}`]
    case "callChannel":
      if (filter.channel === "web") return [sql`r.mode = ANY(${webModes}::text[])`]
      if (filter.channel === "chat") return [sql`r.mode = ANY(${chatModes}::text[])`]
      return [sql`r.mode <> ALL(${[...webModes, ...chatModes]}::text[])`]
  }
}

/** Selects the runs of a campaign, of an agent, or of the whole organization. */
export interface RunSelection {
  readonly organizationId: OrganizationId
  readonly campaignId?: CampaignId
  readonly agentId?: AgentId
  readonly filters: ReadonlyArray<RunFilter>
  /** The time zone of the days in the filters; irrelevant, and UTC, when no filter names a day. */
  readonly timeZone?: string | undefined
}

/** The organization's time zone; UTC if it has not set one. */
export const timeZoneOf = (sql: Sql, id: OrganizationId) =>
  sql<{ readonly timeZone: string | null }>`SELECT timezone AS time_zone FROM organizations WHERE id = ${id}`.pipe(
    Effect.map((rows) => rows[0]?.timeZone ?? "UTC")
  )

/** The statement calls the runs `r`. */
export const where = (sql: Sql, { agentId, campaignId, filters, organizationId, timeZone = "UTC" }: RunSelection) =>
  sql`WHERE ${sql.and([
    sql`r.organization_id = ${organizationId}`,
    ...(campaignId === undefined ? [] : [sql`r.campaign_id = ${campaignId}`]),
    ...(agentId === undefined ? [] : [sql`r.agent_id = ${agentId}`]),
    ...filters.flatMap((filter) => conditions(sql, filter, timeZone))
  ])}`

/**
 * Without a filter no rows are counted: campaigns keep the number of their attempts, and runs without a campaign are added up as they
 * begin.
 */
export const count = (sql: Sql, selection: RunSelection) => {
  const counted =
    selection.filters.length > 0 ? sql`SELECT count(*)::int AS count FROM runs r ${where(sql, selection)}` : total(sql, selection)
  return Effect.map(sql<{ readonly count: number }>`${counted}`, (rows) => rows[0]?.count ?? 0)
}

const total = (sql: Sql, { agentId, campaignId, organizationId }: RunSelection) => {
  const ofAgent = (column: string) => (agentId === undefined ? sql`` : sql`AND ${sql.literal(column)} = ${agentId}`)
  const dialed = (campaign: Statement.Fragment) => sql`
    SELECT coalesce(sum(d.executed_count), 0) FROM campaigns c JOIN campaign_dials d ON d.campaign_id = c.id
    WHERE c.organization_id = ${organizationId} ${campaign}`
  if (campaignId !== undefined) return sql`SELECT (${dialed(sql`AND c.id = ${campaignId}`)})::int AS count`
  return sql`
    SELECT ((${dialed(ofAgent("c.agent_id"))}) + (
      SELECT coalesce(sum(s.runs), 0) FROM single_run_counts s WHERE s.organization_id = ${organizationId} ${ofAgent("s.agent_id")}
    ))::int AS count`
}

export const list = (
  sql: Sql,
  selection: RunSelection,
  page: { readonly by: "created_at" | "duration"; readonly ascending: boolean; readonly limit: number; readonly offset: number }
) => {
  const direction = page.ascending ? "ASC" : "DESC"
  const order =
    page.by === "duration" ? `${durationSql} ${direction} NULLS LAST, r.id ${direction}` : `r.created_at ${direction}, r.id ${direction}`
  return sql<Row<Run>>`
    SELECT ${columns(sql)} FROM runs r ${where(sql, selection)}
    ORDER BY ${sql.literal(order)} LIMIT ${page.limit} OFFSET ${page.offset}`.pipe(Effect.map((rows) => rows.map(runOf)))
}

export const agentNames = (sql: Sql, organizationId: OrganizationId, ids: ReadonlyArray<AgentId>) =>
  sql<{ readonly id: AgentId; readonly name: string }>`
    SELECT id, name FROM agents WHERE organization_id = ${organizationId} AND id = ANY(${ids}::int[])`.pipe(
    Effect.map((rows) => new Map(rows.map(({ id, name }) => [id, name])))
  )

/** For requests with a token of the run, which may come from outside its organization. */
export const artifacts = (sql: Sql, id: RunId) =>
  sql<{ readonly organizationId: OrganizationId; readonly transcriptKey: string | null; readonly recordingKey: string | null }>`
    SELECT organization_id, transcript_key, recording_key FROM runs WHERE id = ${id}`.pipe(Effect.map((rows) => rows[0]))
