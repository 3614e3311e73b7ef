import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId, RunId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import type { Row } from "#core/Row.ts"
import {
  callerNumberSql,
  dispositionSql,
  durationSql,
  exactCostSql,
  isCallSql,
  phoneNumberSql,
  tagsSql,
  variablesSql
} from "#core/run/recordedValues.ts"
import { type RunSelection, where as selected } from "#core/run/RunStore.ts"
import type { DailyRun, ReportedDay, ReportRow, UsageDay } from "./Report.ts"

type Sql = SqlClient.SqlClient

const where = (sql: Sql, selection: RunSelection) => sql`${selected(sql, selection)} AND ${sql.literal(isCallSql)}`

const batchRows = 500
/** No spreadsheet shows more columns. */
const maxVariables = 10_000
const dailyRuns = 5000
const transfers = ["call_transferred", "transfer_call"]

export const hasAgent = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql`SELECT 1 FROM agents WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(Effect.map((rows) => rows.length > 0))

/** The variables of all selected runs; those of the newest run come first. */
export const variables = (sql: Sql, selection: RunSelection) =>
  sql<{ readonly name: string }>`
    SELECT v.name FROM runs r CROSS JOIN LATERAL jsonb_object_keys(
      ${sql.literal(variablesSql)}
    ) WITH ORDINALITY AS v (name, place)
    ${where(sql, selection)} GROUP BY v.name
    ORDER BY max(r.created_at) DESC, max(r.id) DESC, min(v.place) LIMIT ${maxVariables}`.pipe(
    Effect.map((rows) => rows.map(({ name }) => name))
  )

/** Where the previous batch ended. The time is text because Postgres has more digits than a `Date`. */
export interface Cursor {
  readonly createdAt: string
  readonly id: RunId
}

type Found = Row<ReportRow> & { readonly cursor: string }

const rowOf = (row: Found): ReportRow => ({
  ...row,
  campaignId: row.campaignId ?? undefined,
  phoneNumber: row.phoneNumber ?? undefined,
  disposition: row.disposition ?? undefined,
  durationSeconds: row.durationSeconds ?? undefined,
  transcriptKey: row.transcriptKey ?? undefined,
  recordingKey: row.recordingKey ?? undefined,
  rowNo: row.rowNo ?? undefined,
  attempt: row.attempt ?? undefined,
  outcome: row.outcome ?? undefined,
  fromNumber: row.fromNumber ?? undefined
})

/** Newest first, `batchRows` at most. */
export const batch = (sql: Sql, selection: RunSelection, after: Cursor | undefined) => {
  const rest = after === undefined ? sql`` : sql`AND (r.created_at, r.id) < (${after.createdAt}::timestamptz, ${after.id}::int)`
  return sql<Found>`
    WITH page AS MATERIALIZED (
      SELECT r.* FROM runs r ${where(sql, selection)} ${rest} ORDER BY r.created_at DESC, r.id DESC LIMIT ${sql.literal(String(batchRows))}
    )
    SELECT r.id, r.campaign_id, r.agent_id, r.agent_definition_id AS definition_id, r.created_at, r.created_at::text AS cursor,
      ${sql.literal(phoneNumberSql)} AS phone_number, ${sql.literal(dispositionSql)} AS disposition,
      ${sql.literal(durationSql)} AS duration_seconds, ${sql.literal(variablesSql)} AS variables, ${sql.literal(tagsSql)} AS tags,
      r.transcript_key, r.recording_key, a.row_no, a.number AS attempt, a.outcome,
      CASE WHEN c.row_no IS NULL THEN r.is_completed
        ELSE c.state IN ('completed', 'failed', 'cancelled') AND a.number = c.retries_used + 1 END AS is_final,
      ${sql.literal(callerNumberSql)} AS from_number
    FROM page r LEFT JOIN attempts a ON a.id = r.attempt_id
      LEFT JOIN contacts c ON c.campaign_id = a.campaign_id AND c.row_no = a.row_no
    ORDER BY r.created_at DESC, r.id DESC`.pipe(
    Effect.map((rows) => {
      const last = rows.at(-1)
      return {
        rows: rows.map(rowOf),
        next: last === undefined || rows.length < batchRows ? undefined : { createdAt: last.cursor, id: last.id }
      }
    })
  )
}

/** The runs of a day: of one agent, or of the whole organization. */
export interface DaySelection extends ReportedDay {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId | undefined
}

const ofDay = (sql: Sql, { agentId, from, organizationId, until }: DaySelection) => sql`
  r.organization_id = ${organizationId} AND r.created_at >= ${from}::timestamptz AND r.created_at < ${until}::timestamptz
  AND ${sql.literal(isCallSql)}
  ${agentId === undefined ? sql`` : sql`AND r.agent_id = ${agentId}`}`

/** `durations` counts the runs in each range between `bounds`, so it has one entry more than `bounds`. */
export const dayTotals = (sql: Sql, day: DaySelection, bounds: ReadonlyArray<number>) =>
  sql<{ readonly runs: number; readonly disposed: number; readonly transferred: number; readonly durations: ReadonlyArray<number> }>`
    WITH day AS MATERIALIZED (
      SELECT ${sql.literal(dispositionSql)} AS disposition, ${sql.literal(durationSql)} AS seconds FROM runs r WHERE ${ofDay(sql, day)}
    )
    SELECT count(*)::int AS runs, count(disposition)::int AS disposed,
      (count(*) FILTER (WHERE disposition = ANY(${transfers}::text[])))::int AS transferred,
      ARRAY(SELECT (SELECT count(*)::int FROM day WHERE width_bucket(seconds, ${bounds}::float8[]) = bucket)
        FROM generate_series(0, ${bounds.length}::int) AS bucket ORDER BY bucket) AS durations
    FROM day`.pipe(Effect.map((rows) => rows[0] ?? { runs: 0, disposed: 0, transferred: 0, durations: bounds.map(() => 0) }))

export const dayDispositions = (sql: Sql, day: DaySelection, limit: number) => sql<{
  readonly disposition: string
  readonly count: number
}>`
  SELECT ${sql.literal(dispositionSql)} AS disposition, count(*)::int AS count FROM runs r
  WHERE ${ofDay(sql, day)} AND ${sql.literal(dispositionSql)} IS NOT NULL
  GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${limit}`

export const runsOfDay = (sql: Sql, day: DaySelection) => sql<DailyRun>`
  SELECT r.id, r.agent_id, a.name AS agent_name, ${sql.literal(phoneNumberSql)} AS phone_number,
    ${sql.literal(dispositionSql)} AS disposition, ${sql.literal(durationSql)} AS duration_seconds, r.created_at
  FROM runs r JOIN agents a ON a.id = r.agent_id
  WHERE ${ofDay(sql, day)} ORDER BY r.created_at DESC, r.id DESC LIMIT ${dailyRuns}`

export const agents = (sql: Sql, organizationId: OrganizationId, { limit, offset }: Page) => sql<{
  readonly id: AgentId
  readonly name: string
}>`
  SELECT id, name FROM agents WHERE organization_id = ${organizationId} ORDER BY id LIMIT ${limit} OFFSET ${offset}`

/**
 * Days in UTC, from the day of `from` up to but excluding the day of `until`. Only days that can still change are counted from their runs. The
 * totals of a past day are stored once all its calls have ended, an hour after its end at the earliest: until then its last run may be in a
 * transaction that is still open.
 */
export const usageByDay = (sql: Sql, organizationId: OrganizationId, { from, until }: ReportedDay) => sql<UsageDay>`
  WITH days AS MATERIALIZED (
    SELECT d.day::date AS day, u.calls, u.seconds, u.cost_usd FROM generate_series(
      ${from}::timestamptz AT TIME ZONE 'UTC', (${until}::timestamptz AT TIME ZONE 'UTC') - interval '1 day', interval '1 day'
    ) AS d (day) LEFT JOIN usage_days u ON u.organization_id = ${organizationId} AND u.day = d.day::date
  ), counted AS MATERIALIZED (
    SELECT d.day, t.calls, t.seconds, t.cost_usd, t.open FROM days d CROSS JOIN LATERAL (
      SELECT count(*)::int AS calls, coalesce(sum(${sql.literal(durationSql)}), 0) AS seconds,
        sum(${sql.literal(exactCostSql)}) AS cost_usd, count(*) FILTER (WHERE NOT r.is_completed) AS open
      FROM runs r WHERE r.organization_id = ${organizationId} AND ${sql.literal(isCallSql)}
        AND r.created_at >= d.day::timestamp AT TIME ZONE 'UTC' AND r.created_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
    ) t WHERE d.calls IS NULL AND d.day::timestamp AT TIME ZONE 'UTC' < now()
  ), kept AS (
    INSERT INTO usage_days (organization_id, day, calls, seconds, cost_usd)
    SELECT ${organizationId}::int, day, calls, seconds, cost_usd FROM counted
    WHERE open = 0 AND (day + 1)::timestamp AT TIME ZONE 'UTC' < now() - interval '1 hour'
    ON CONFLICT DO NOTHING
  )
  SELECT to_char(d.day, 'YYYY-MM-DD') AS date, coalesce(d.calls, c.calls, 0) AS calls, coalesce(d.seconds, c.seconds, 0) AS seconds,
    coalesce(d.cost_usd, c.cost_usd)::float8 AS cost_usd
  FROM days d LEFT JOIN counted c ON c.day = d.day ORDER BY d.day DESC`
