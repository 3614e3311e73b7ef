/**
 * What the owner of a running campaign reads and writes: its dial plan, the stops it decides on, and the breaker. `owner_epoch` fences off
 * previous owners: taking a campaign over raises it, and claims and stops of the previous owner then change nothing.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentDefinitionId, AgentId, CallId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { type CampaignEvent, intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import { type BreakerConfig, isTripped } from "./CircuitBreaker.ts"
import type { Row } from "#core/Row.ts"
import { storableJson } from "#core/storable.ts"
import { defaultConfiguration } from "#core/telephony/defaultConfiguration.ts"
import { type CampaignSettings, type PlanSetting, planSettings } from "./CampaignSettings.ts"
import { type LastWord, ofMedia, rememberedEvents } from "./LastWords.ts"
import * as settingColumns from "./settingColumns.ts"

/** Everything that dispatch needs to know about a running campaign. */
export interface DialPlan extends Row<Pick<CampaignSettings, PlanSetting>> {
  readonly campaignId: CampaignId
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  /** The version that its calls run; null if the agent has no published version. */
  readonly definitionId: AgentDefinitionId | null
  readonly ownerEpoch: number
  readonly dialEpoch: number
  readonly breakerEpoch: number
  readonly settingsVersion: number
  /** Calls that the organization's campaigns together may have up: its limit less its reserve. */
  readonly organizationShare: number
  readonly telephonyConfigurationId: TelephonyConfigId | null
  /** The configuration's provider. */
  readonly telephonyProvider: string | null
}

export interface AutomaticStop {
  readonly event: CampaignEvent
  readonly level: "warning" | "error"
  readonly message: string
  readonly details?: Readonly<Record<string, unknown>>
}

interface RecordedEntry {
  readonly callId: CallId
  /** Epoch milliseconds. */
  readonly at: number
  readonly failure: boolean
}

export class CampaignOwnership extends Context.Service<
  CampaignOwnership,
  {
    /** Takes the campaign over. Undefined when it is not running. */
    readonly own: (id: CampaignId) => Effect.Effect<DialPlan | undefined>
    /** What the campaign's log said last of each thing that a new owner must not say again, the newest first. Times are epoch milliseconds. */
    readonly lastWords: (id: CampaignId) => Effect.Effect<ReadonlyArray<LastWord>>
    /** The current plan. Undefined when the campaign is no longer running or has another owner. */
    readonly look: (id: CampaignId, ownerEpoch: number) => Effect.Effect<DialPlan | undefined>
    /**
     * Pauses a running campaign, writes the log entry that says why, and withdraws all permits. False when the campaign was not running, or
     * when `ownerEpoch` is given and the campaign has another owner by now.
     */
    readonly stop: (id: CampaignId, stop: AutomaticStop, ownerEpoch?: number) => Effect.Effect<boolean>
    /** Pauses the campaign and returns true if the entries in its breaker's window trip it. Must be called after each entry. */
    readonly judgeBreaker: (id: CampaignId, now: number) => Effect.Effect<boolean>
    /** The entries of the current breaker epoch that are in its window now, oldest first. */
    readonly breakerEntries: (id: CampaignId, now: number) => Effect.Effect<ReadonlyArray<RecordedEntry>>
    readonly log: (id: CampaignId, entry: Entry) => Effect.Effect<void>
    /** Compares the counters with a scan of contacts and attempts, and corrects them. True when they agreed. */
    readonly recount: (id: CampaignId) => Effect.Effect<boolean>
  }
>()("core/campaign/CampaignOwnership") {
  static readonly layer = Layer.effect(
    CampaignOwnership,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const stop = (id: CampaignId, reason: AutomaticStop, ownerEpoch?: number) =>
        pause(sql, id, reason, ownerEpoch).pipe(
          Effect.orDie,
          Effect.tap((stopped) => (stopped ? tell(id, reason) : Effect.void))
        )
      return {
        own: (id) => Effect.orDie(own(sql, id)),
        lastWords: (id) => Effect.orDie(lastWords(sql, id)),
        look: (id, ownerEpoch) => Effect.orDie(look(sql, id, ownerEpoch)),
        stop,
        judgeBreaker: (id, now) => Effect.orDie(judgeBreaker(sql, id, now, stop)),
        breakerEntries: (id, now) => Effect.orDie(breakerEntries(sql, id, now)),
        log: (id, entry) => Effect.flatMap(Effect.orDie(log(sql, id, entry)), (written) => (written ? tell(id, entry) : Effect.void)),
        recount: (id) => Effect.orDie(recount(sql, id))
      }
    })
  )
}

type Sql = SqlClient.SqlClient

interface Entry extends Omit<AutomaticStop, "level"> {
  readonly level: "info" | "warning" | "error"
  /** With the same details, it is written once a day at most, however often the engine is restarted. */
  readonly isDaily?: boolean
  readonly once?: Once
}

/** An entry that has these details is written once in this time at most, whichever engine writes it. */
export interface Once {
  readonly about: Readonly<Record<string, unknown>>
  readonly millis: number
}

/** Repeats the entry in the engine's own log, because the engine's operator does not look at each campaign. */
const tell = (campaignId: CampaignId, { details, event, level, message }: Entry) => {
  const detail = details?.["detail"]
  return logs[level](message, { campaignId, event, ...(detail === undefined ? {} : { detail }) })
}
const logs = { info: Effect.logInfo, warning: Effect.logWarning, error: Effect.logError }

const own = Effect.fnUntraced(function* (sql: Sql, id: CampaignId) {
  const [row] = yield* sql<{ readonly ownerEpoch: number }>`
    UPDATE campaigns SET owner_epoch = owner_epoch + 1 WHERE id = ${id}::int AND state = 'running' RETURNING owner_epoch`
  return row === undefined ? undefined : yield* look(sql, id, row.ownerEpoch)
})

/** Reads the campaign's log as a whole, so not more often than the campaign gets an owner. */
const lastWords = (sql: Sql, id: CampaignId) => {
  const kinds = sql.literal(`event, level, details ->> 'endpoint', details ? '${ofMedia}'`)
  return sql<LastWord>`
    SELECT event, level, details, at FROM (
      SELECT DISTINCT ON (${kinds}) id, event, level, details, extract(epoch FROM ts)::float8 * 1000 AS at
      FROM campaign_log WHERE campaign_id = ${id}::int AND event = ANY (${rememberedEvents}::text[])
      ORDER BY ${kinds}, id DESC
    ) newest ORDER BY id DESC`
}

const look = (sql: Sql, id: CampaignId, ownerEpoch: number) =>
  sql<DialPlan>`
    SELECT c.id AS campaign_id, c.organization_id, c.agent_id, a.current_definition_id AS definition_id, c.owner_epoch, c.dial_epoch, c.breaker_epoch,
      c.settings_version, ${settingColumns.read(sql, planSettings)},
      greatest(o.concurrency_limit - o.concurrency_reserve, 0) AS organization_share, t.id AS telephony_configuration_id,
      t.provider AS telephony_provider
    FROM campaigns c JOIN organizations o ON o.id = c.organization_id JOIN agents a ON a.id = c.agent_id
    LEFT JOIN telephony_configurations t ON t.organization_id = c.organization_id
      AND t.id = coalesce(c.telephony_configuration_id, ${sql.literal(defaultConfiguration("c.organization_id"))})
    WHERE c.id = ${id}::int AND c.state = 'running' AND c.owner_epoch = ${ownerEpoch}::int`.pipe(Effect.map((rows) => rows[0]))

const pause = (sql: Sql, id: CampaignId, stop: AutomaticStop, ownerEpoch: number | undefined) =>
  sql`
    WITH stopped AS (
      UPDATE campaigns SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = NULL
      WHERE id = ${id}::int AND state = 'running' AND (${ownerEpoch ?? null}::int IS NULL OR owner_epoch = ${ownerEpoch ?? null}::int)
      RETURNING id, organization_id
    )
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, stop)} FROM stopped RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

const log = (sql: Sql, id: CampaignId, entry: Entry) => {
  const isSaid = sql`EXISTS (SELECT 1 FROM campaign_log WHERE campaign_id = ${id}::int AND event = ${entry.event}
    AND details = ${storableJson(entry.details ?? null)}::text::jsonb AND ts > now() - interval '1 day')`
  return sql`
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, entry)}
    FROM campaigns WHERE id = ${id}::int ${entry.isDaily === true ? sql`AND NOT ${isSaid}` : sql``} ${onlyOnce(sql, id, entry)}
    RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))
}

const onlyOnce = (sql: Sql, id: CampaignId, { event, once }: Entry) =>
  once === undefined
    ? sql``
    : sql`AND NOT EXISTS (SELECT 1 FROM campaign_log WHERE campaign_id = ${id}::int AND event = ${event}
        AND details @> ${storableJson(once.about)}::text::jsonb AND ts > now() - make_interval(secs => ${once.millis / 1000}))`

const RECENT_FAILURES = 20

const judgeBreaker = Effect.fnUntraced(function* (
  sql: Sql,
  id: CampaignId,
  now: number,
  stop: (id: CampaignId, reason: AutomaticStop) => Effect.Effect<boolean>
) {
  const [window] = yield* sql<{ readonly config: BreakerConfig; readonly total: number; readonly failures: number }>`
    SELECT c.circuit_breaker AS config, count(a.breaker_failure)::int AS total, (count(*) FILTER (WHERE a.breaker_failure))::int AS failures
    FROM campaigns c LEFT JOIN attempts a ON a.campaign_id = c.id AND a.breaker_epoch = c.breaker_epoch AND a.breaker_failure IS NOT NULL
      AND a.ended_at > to_timestamp(${now}::float8 / 1000) - make_interval(secs => (c.circuit_breaker ->> 'windowSeconds')::float8)
      AND a.ended_at <= to_timestamp(${now}::float8 / 1000)
    WHERE c.id = ${id}::int AND c.state = 'running' AND (c.circuit_breaker ->> 'enabled')::bool
    GROUP BY c.id`
  if (window === undefined || !isTripped(window)) return false
  const { config, failures, total } = window
  const recent = yield* sql<{ readonly workflowRunId: number | null; readonly reason: string; readonly ts: Date }>`
    SELECT r.id AS workflow_run_id, coalesce(a.outcome, 'call_initiation_failed') AS reason, a.ended_at AS ts
    FROM attempts a JOIN campaigns c ON c.id = a.campaign_id AND c.breaker_epoch = a.breaker_epoch LEFT JOIN runs r ON r.attempt_id = a.id
    WHERE a.campaign_id = ${id}::int AND a.breaker_failure ORDER BY a.ended_at DESC LIMIT ${RECENT_FAILURES}::int`
  const percent = (share: number) => `${Math.round(share * 1000) / 10}%`
  return yield* stop(id, {
    event: "circuit_breaker_tripped",
    level: "warning",
    message: `Paused: failure rate ${percent(failures / total)} (${failures}/${total}) reached ${percent(config.failureThreshold)} in ${config.windowSeconds} s.`,
    details: {
      failure_rate: failures / total,
      failure_count: failures,
      success_count: total - failures,
      threshold: config.failureThreshold,
      window_seconds: config.windowSeconds,
      min_calls_in_window: config.minCallsInWindow,
      recent_failures: recent.map(({ workflowRunId, reason, ts }) => ({ workflow_run_id: workflowRunId, reason, ts: ts.toISOString() }))
    }
  })
})

const breakerEntries = (sql: Sql, id: CampaignId, now: number) =>
  sql<RecordedEntry>`
    SELECT a.id AS call_id, extract(epoch FROM a.ended_at)::float8 * 1000 AS at, a.breaker_failure AS failure
    FROM campaigns c JOIN attempts a ON a.campaign_id = c.id AND a.breaker_epoch = c.breaker_epoch AND a.breaker_failure IS NOT NULL
      AND a.ended_at > to_timestamp(${now}::float8 / 1000) - make_interval(secs => (c.circuit_breaker ->> 'windowSeconds')::float8)
    WHERE c.id = ${id}::int ORDER BY a.ended_at`

const recount = (sql: Sql, id: CampaignId) =>
  sql`
    WITH truth AS MATERIALIZED (
      SELECT count(*) FILTER (WHERE state = 'completed')::int AS completed_rows, count(*) FILTER (WHERE state = 'failed')::int AS failed_rows,
        count(*) FILTER (WHERE state = 'cancelled')::int AS cancelled_rows, tried.*
      FROM contacts CROSS JOIN (
        SELECT count(DISTINCT row_no) FILTER (WHERE state <> 'void')::int AS processed_rows, count(*) FILTER (WHERE state <> 'void')::int AS executed_count,
          count(*) FILTER (WHERE outcome IN ('failed', 'error', 'busy', 'no_answer', 'unknown'))::int AS failed_calls
        FROM attempts WHERE campaign_id = ${id}::int
      ) tried WHERE campaign_id = ${id}::int GROUP BY processed_rows, executed_count, failed_calls
    ), ended AS (
      UPDATE campaigns c SET completed_rows = t.completed_rows, failed_rows = t.failed_rows, cancelled_rows = t.cancelled_rows,
        failed_calls = t.failed_calls
      FROM truth t WHERE c.id = ${id}::int AND (c.completed_rows, c.failed_rows, c.cancelled_rows, c.failed_calls)
        IS DISTINCT FROM (t.completed_rows, t.failed_rows, t.cancelled_rows, t.failed_calls)
      RETURNING c.id
    ), dialed AS (
      UPDATE campaign_dials d SET processed_rows = t.processed_rows, executed_count = t.executed_count
      FROM truth t WHERE d.campaign_id = ${id}::int AND (d.processed_rows, d.executed_count) IS DISTINCT FROM (t.processed_rows, t.executed_count)
      RETURNING d.campaign_id
    )
    SELECT id FROM ended UNION ALL SELECT campaign_id FROM dialed`.pipe(Effect.map((rows) => rows.length === 0))
