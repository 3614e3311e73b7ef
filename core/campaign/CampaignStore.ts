import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { JsonObject } from "#core/Json.ts"
import type { AgentId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Campaign, CampaignCounters, CampaignState, SourceSync } from "./Campaign.ts"
import {
  type CampaignLogEntry,
  completionEntry,
  createdEntry,
  intoCampaignLog,
  logEntry,
  sourceEntry,
  shownEntries
} from "#core/CampaignLog.ts"
import { type CampaignSettings, settingsOf, type StoredChanges } from "./CampaignSettings.ts"
import { type CampaignProgress, progressOf } from "./CampaignProgress.ts"
import { stillAllowedSql } from "./RetryPolicy.ts"
import * as settingColumns from "./settingColumns.ts"
import type { Row } from "#core/Row.ts"
import type { SourceVariables } from "#core/contact/ContactSource.ts"

type Sql = SqlClient.SqlClient
const listLogs = 10

export interface StoredSync extends SourceSync {
  readonly variables: SourceVariables
  /** Some of the numbers are extensions. Absent for older lists, which have none. */
  readonly hasExtensions?: true
}

interface ProgressRow extends CampaignCounters {
  readonly id: CampaignId
  readonly state: CampaignState
  readonly sourceSync: StoredSync
  readonly startedAt: Date | null
  readonly completedAt: Date | null
}
interface CampaignRow extends ProgressRow, Row<CampaignSettings> {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly agentName: string
  readonly telephonyConfigurationId: TelephonyConfigId | null
  readonly telephonyConfigurationName: string | null
  readonly sourceType: "csv"
  readonly sourceId: string
  readonly parentCampaignId: CampaignId | null
  readonly redialedCampaignId: CampaignId | null
  readonly createdAt: Date
  readonly logs: ReadonlyArray<CampaignLogEntry>
}

/** A campaign with the newest entries of its log, oldest first. */
export interface LoggedCampaign extends Campaign {
  readonly logs: ReadonlyArray<CampaignLogEntry>
}

const countersOf = (row: CampaignCounters): CampaignCounters => ({
  totalRows: row.totalRows,
  processedRows: row.processedRows,
  completedRows: row.completedRows,
  failedRows: row.failedRows,
  cancelledRows: row.cancelledRows,
  failedCalls: row.failedCalls,
  executedCount: row.executedCount,
  retriesQueued: row.retriesQueued
})

const syncOf = ({ variables: _, hasExtensions: __, ...shown }: StoredSync): SourceSync => shown

const campaignOf = (row: CampaignRow): LoggedCampaign => ({
  id: row.id,
  organizationId: row.organizationId,
  agentId: row.agentId,
  agentName: row.agentName,
  telephonyConfigurationId: row.telephonyConfigurationId ?? undefined,
  telephonyConfigurationName: row.telephonyConfigurationName ?? undefined,
  state: row.state,
  sourceType: row.sourceType,
  sourceId: row.sourceId,
  sourceSync: syncOf(row.sourceSync),
  ...settingsOf(row),
  counters: countersOf(row),
  parentCampaignId: row.parentCampaignId ?? undefined,
  redialedCampaignId: row.redialedCampaignId ?? undefined,
  createdAt: row.createdAt,
  startedAt: row.startedAt ?? undefined,
  completedAt: row.completedAt ?? undefined,
  logs: row.logs
})

/** A campaign has no row in `campaign_dials` before its first dial. */
const dials = (sql: Sql) => sql.literal("coalesce(d.processed_rows, 0) AS processed_rows, coalesce(d.executed_count, 0) AS executed_count")

const select = (sql: Sql, logs: number) => sql`
  SELECT c.id, c.organization_id, c.agent_id, c.telephony_configuration_id, c.state, c.source_type, c.source_id, c.source_sync,
    c.total_rows, c.completed_rows, c.failed_rows, c.cancelled_rows, c.failed_calls, c.retries_queued, c.parent_campaign_id,
    c.redialed_campaign_id, c.created_at, c.started_at, c.completed_at, ${settingColumns.read(sql)}, ${dials(sql)}, a.name AS agent_name, t.name AS telephony_configuration_name, l.logs
  FROM campaigns c JOIN agents a ON a.id = c.agent_id LEFT JOIN telephony_configurations t ON t.id = c.telephony_configuration_id
  LEFT JOIN campaign_dials d ON d.campaign_id = c.id
  CROSS JOIN LATERAL (
    SELECT coalesce(json_agg(json_build_object('ts', to_char(e.ts AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
      'level', e.level, 'event', e.event, 'message', e.message, 'details', e.details) ORDER BY e.id), '[]') AS logs
    FROM (SELECT * FROM campaign_log WHERE campaign_id = c.id ORDER BY id DESC LIMIT ${logs}) e
  ) l`

export const find = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<CampaignRow>`${select(sql, shownEntries)} WHERE c.organization_id = ${organizationId} AND c.id = ${id}`.pipe(
    Effect.map((rows) => rows.map(campaignOf)[0])
  )

export interface CampaignSelection {
  readonly states?: ReadonlyArray<CampaignState> | undefined
  /** A part of the name, in upper or lower case. */
  readonly name?: string | undefined
  /** Only campaigns that follow this one in the list. Nothing follows another organization's campaign. */
  readonly after?: CampaignId | undefined
  readonly limit: number
  readonly offset: number
}

/** Finds the page before joining anything to it: in index order, one state at a time, without reading past the page's end. */
export const list = (sql: Sql, organizationId: OrganizationId, { after, limit, name, offset, states }: CampaignSelection) => {
  const selected = (state: Statement.Fragment) => sql`
    SELECT id, created_at FROM campaigns
    WHERE ${sql.and([
      sql`organization_id = ${organizationId}`,
      state,
      ...(name === undefined ? [] : [sql`strpos(lower(name), lower(${name})) > 0`]),
      ...(after === undefined
        ? []
        : [sql`(created_at, id) < (SELECT created_at, id FROM campaigns WHERE organization_id = ${organizationId} AND id = ${after})`])
    ])}
    ORDER BY created_at DESC, id DESC LIMIT ${offset + limit}::int`
  const page =
    states === undefined
      ? selected(sql`true`)
      : sql`SELECT s.id, s.created_at FROM unnest(${states}::text[]) AS wanted (state) CROSS JOIN LATERAL (${selected(sql`state = wanted.state`)}) s`
  return sql<CampaignRow>`
    WITH page AS MATERIALIZED (SELECT id FROM (${page}) p ORDER BY created_at DESC, id DESC LIMIT ${limit}::int OFFSET ${offset}::int)
    ${select(sql, listLogs)} WHERE c.organization_id = ${organizationId} AND c.id = ANY(ARRAY(SELECT id FROM page))
    ORDER BY c.created_at DESC, c.id DESC`.pipe(Effect.map((rows) => rows.map(campaignOf)))
}

/** Calls of the organization that may be up at once. */
export const organizationLimit = (sql: Sql, id: OrganizationId) =>
  sql<{ readonly limit: number }>`SELECT concurrency_limit AS "limit" FROM organizations WHERE id = ${id}`.pipe(
    Effect.map((rows) => rows[0]?.limit ?? 0)
  )

export const findCreated = (sql: Sql, organizationId: OrganizationId, creationId: string) =>
  sql<{ readonly id: CampaignId }>`
    SELECT id FROM campaigns WHERE organization_id = ${organizationId} AND creation_id = ${creationId}::uuid`.pipe(
    Effect.map((rows) => rows[0]?.id)
  )

const progresses = (sql: Sql, organizationId: OrganizationId, which: Statement.Fragment) =>
  sql<ProgressRow & Pick<CampaignSettings, "rateLimit">>`
    SELECT c.id, c.state, c.source_sync, c.rate_limit, c.started_at, c.completed_at, c.total_rows, c.completed_rows, c.failed_rows,
      c.cancelled_rows, c.failed_calls, c.retries_queued, ${dials(sql)}
    FROM campaigns c LEFT JOIN campaign_dials d ON d.campaign_id = c.id
    WHERE c.organization_id = ${organizationId} AND ${which}`.pipe(
    Effect.map((rows) =>
      rows.map(
        (row): CampaignProgress =>
          progressOf({
            ...row,
            counters: countersOf(row),
            sourceSync: syncOf(row.sourceSync),
            startedAt: row.startedAt ?? undefined,
            completedAt: row.completedAt ?? undefined
          })
      )
    )
  )

export const progress = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  Effect.map(progresses(sql, organizationId, sql`c.id = ${id}`), ([found]) => found)

/** Of so many campaigns that are running or paused, running ones first, newest first. */
export const progressUnderWay = (sql: Sql, organizationId: OrganizationId, limit: number) =>
  progresses(
    sql,
    organizationId,
    sql`c.state IN ('running', 'paused') ORDER BY c.state = 'paused', c.created_at DESC, c.id DESC LIMIT ${limit}::int`
  )

/**
 * The campaign's agent and its published version, if it has one. The agent cannot be archived until the transaction ends. This lock is taken
 * before the campaign's own, in the same order as archiving takes them.
 */
export const lockAgent = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<{
    readonly agentId: AgentId
    readonly isActive: boolean
    readonly definition: JsonObject | null
    readonly configurations: JsonObject | null
  }>`
    SELECT a.id AS agent_id, a.status = 'active' AS is_active, d.definition, d.configurations
    FROM agents a LEFT JOIN agent_definitions d ON d.id = a.current_definition_id
    WHERE a.id = (SELECT agent_id FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id}) FOR SHARE OF a`.pipe(
    Effect.map((rows) => rows[0])
  )

export const lock = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<{
    readonly state: CampaignState
    readonly telephonyConfigurationId: TelephonyConfigId | null
    readonly sourceSync: StoredSync
  }>`
    SELECT state, telephony_configuration_id, source_sync FROM campaigns
    WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE`.pipe(Effect.map((rows) => rows[0]))

/** Contacts that are still to be called at an extension. One whose call is up has been called, although its row says `dialing`. */
export const extensionsToCall = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<{ readonly rowNo: number; readonly phoneNumber: string }>`
    SELECT row_no, phone_number FROM contacts
    WHERE organization_id = ${organizationId} AND campaign_id = ${id} AND state IN ('pending', 'retry_wait', 'dialing')
      AND phone_number NOT LIKE '+%' AND NOT (state = 'dialing' AND row_no = ANY (ARRAY(
        SELECT row_no FROM attempts WHERE campaign_id = ${id} AND state = 'answered')))
    ORDER BY row_no`

/** Fails waiting retries that the settings no longer allow, without a dial. A retry that was not dialed is not counted as one. */
export const dropWaiting = (sql: Sql, organizationId: OrganizationId, id: CampaignId) => sql`
  WITH dropped AS (
    UPDATE contacts SET state = 'failed', retries_used = retries_used - 1, due_at = NULL, awaits_number = false FROM campaigns c
    WHERE contacts.campaign_id = ${id} AND c.id = ${id} AND c.organization_id = ${organizationId} AND contacts.state = 'retry_wait'
      -- Each part has an index of its own.
      AND contacts.row_no IN (SELECT row_no FROM contacts WHERE campaign_id = ${id} AND state = 'retry_wait' AND NOT awaits_number
        UNION ALL SELECT row_no FROM contacts WHERE campaign_id = ${id} AND awaits_number)
      AND NOT ${sql.literal(stillAllowedSql("contacts", "c.retry_config"))}
    RETURNING contacts.row_no
  )
  UPDATE campaigns SET failed_rows = failed_rows + n, retries_queued = retries_queued - n
  FROM (SELECT count(*)::int AS n FROM dropped) AS d WHERE id = ${id} AND organization_id = ${organizationId} AND n > 0`

interface Run {
  readonly left: "draft" | "paused"
  readonly telephonyConfigurationId: TelephonyConfigId
}

/** A campaign that should run but has no contacts left completes at once. */
export const runningOrCompleted = (sql: Sql) =>
  sql.literal(`
    state = CASE WHEN completed_rows + failed_rows + cancelled_rows = total_rows THEN 'completed' ELSE 'running' END,
    completed_at = CASE WHEN completed_rows + failed_rows + cancelled_rows = total_rows THEN now() END`)

/** Starts or resumes the campaign. */
export const run = (sql: Sql, organizationId: OrganizationId, id: CampaignId, { left, telephonyConfigurationId }: Run) => {
  const [event, message] =
    left === "draft" ? (["campaign_started", "Campaign started."] as const) : (["campaign_resumed", "Campaign resumed."] as const)
  return sql<{ readonly state: CampaignState; readonly dialEpoch: number }>`
    WITH changed AS (
      UPDATE campaigns SET ${runningOrCompleted(sql)}, started_at = coalesce(started_at, now()), dial_epoch = dial_epoch + 1,
        breaker_epoch = breaker_epoch + 1, telephony_configuration_id = ${telephonyConfigurationId}, resume_tries = NULL,
        pause_unconfirmed = false, updated_at = now()
      WHERE organization_id = ${organizationId} AND id = ${id} AND state = ${left}
      RETURNING *
    ), logged AS (
      ${intoCampaignLog(sql)}
      SELECT c.organization_id, c.id, e.level, e.event, e.message, e.details
      FROM changed c CROSS JOIN LATERAL (VALUES (1, ${logEntry(sql, { level: "info", event, message })}),
        (2, ${completionEntry(sql)})) AS e (ordinal, level, event, message, details)
      WHERE e.ordinal = 1 OR c.state = 'completed' ORDER BY e.ordinal
    )
    SELECT state, dial_epoch FROM changed`.pipe(Effect.map((rows) => rows[0]))
}

/** Says in the log of a campaign that starts or resumes that its agent cannot hear. */
export const noteDeafness = (sql: Sql, organizationId: OrganizationId, id: CampaignId, reason: string) => {
  const message = "The agent asks questions and cannot hear the answers at present, only keys."
  return sql`${intoCampaignLog(sql)}
    SELECT ${organizationId}::int, ${id}::int, ${logEntry(sql, { level: "warning", event: "agent_cannot_hear", message, details: { reason } })}`
}

/** The state that a change found, and whether the change was made. */
interface Attempted {
  readonly state: CampaignState
  readonly done: boolean
}
const attempted = Effect.map((rows: ReadonlyArray<Attempted>) => rows[0])

const pausedByUser = { level: "info", event: "campaign_paused", message: "Campaign paused.", details: { by: "user" } } as const

/** Pauses the campaign. One that the engine would resume by itself stays paused. */
export const pause = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  sql<Attempted & { readonly isUnconfirmed: boolean }>`
    WITH found AS MATERIALIZED (
      SELECT id, state, resume_tries IS NOT NULL AS resumes, state = 'paused' AND pause_unconfirmed AS is_unconfirmed FROM campaigns
      WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE
    ), changed AS (
      UPDATE campaigns c SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = NULL, updated_at = now()
      FROM found WHERE c.id = found.id AND (found.state = 'running' OR found.state = 'paused' AND found.resumes) RETURNING c.organization_id, c.id
    ), logged AS (
      ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, pausedByUser)} FROM changed
    )
    SELECT state, is_unconfirmed, EXISTS (SELECT 1 FROM changed) AS done FROM found`.pipe(Effect.map((rows) => rows[0]))

/** Records whether a client has been told to ask for the pause again. */
export const setUnconfirmed = (sql: Sql, organizationId: OrganizationId, id: CampaignId, unconfirmed: boolean) =>
  sql`
    UPDATE campaigns SET pause_unconfirmed = ${unconfirmed}::bool
    WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'paused'`.pipe(Effect.asVoid)

interface Change {
  /** The columns of the settings that are given, for the log. */
  readonly changed: ReadonlyArray<string>
  /** Whether a running campaign may be changed. */
  readonly isRunningOpen: boolean
}

/**
 * Changes the settings. Withdraws all permits of a running campaign, including those of calls that have been claimed and have not left yet.
 * A running campaign whose breaker changes begins a new breaker epoch.
 */
export const update = (sql: Sql, organizationId: OrganizationId, id: CampaignId, to: StoredChanges, { changed, isRunningOpen }: Change) => {
  return sql<Attempted>`
    WITH found AS MATERIALIZED (
      SELECT id, state FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE
    ), changed AS (
      UPDATE campaigns c SET ${settingColumns.changed(sql, to)}, settings_version = settings_version + 1, resume_tries = NULL,
        updated_at = now(), dial_epoch = dial_epoch + (found.state = 'running')::int,
        breaker_epoch = breaker_epoch + (found.state = 'running' AND ${to.breaker !== undefined}::bool
          AND circuit_breaker IS DISTINCT FROM ${settingColumns.bound(sql, "breaker", to)})::int
      FROM found WHERE c.id = found.id AND (found.state IN ('draft', 'paused') OR found.state = 'running' AND ${isRunningOpen}::bool)
      RETURNING c.organization_id, c.id
    ), logged AS (
      ${intoCampaignLog(sql)}
      SELECT organization_id, id, ${logEntry(sql, { level: "info", event: "settings_updated", message: "Settings updated.", details: { changed } })}
      FROM changed WHERE ${changed.length > 0}
    )
    SELECT state, EXISTS (SELECT 1 FROM changed) AS done FROM found`.pipe(attempted)
}

/**
 * To be called after a change of a running campaign's settings, in the same transaction. Retries that the settings rule out fail, and if no
 * contact is left, the campaign completes.
 */
export const settleRunning = (sql: Sql, organizationId: OrganizationId, id: CampaignId) =>
  Effect.andThen(
    dropWaiting(sql, organizationId, id),
    sql`
    WITH completed AS (
      UPDATE campaigns SET ${runningOrCompleted(sql)} WHERE organization_id = ${organizationId} AND id = ${id} AND state = 'running'
        AND completed_rows + failed_rows + cancelled_rows = total_rows RETURNING *
    )
    ${intoCampaignLog(sql)} SELECT c.organization_id, c.id, ${completionEntry(sql)} FROM completed c`
  )

/** The first half of creating a campaign: the row that the contacts refer to. */
export const insert = (
  sql: Sql,
  campaign: {
    readonly organizationId: OrganizationId
    readonly agentId: AgentId
    readonly sourceType: string
    readonly sourceId: string
    readonly creationId?: string | undefined
  },
  settings: StoredChanges & Pick<CampaignSettings, "name" | "rateLimit" | "retry">
) =>
  sql<{ readonly id: CampaignId }>`
    INSERT INTO campaigns (organization_id, agent_id, source_type, source_id, source_hash, source_sync, creation_id, total_rows,
      ${settingColumns.columns(sql)})
    VALUES (${campaign.organizationId}, ${campaign.agentId}, ${campaign.sourceType}, ${campaign.sourceId}, '', '{}',
      ${campaign.creationId ?? null}::uuid, 0, ${settingColumns.inserted(sql, settings)})
    RETURNING id`

/** The second half of creating a campaign: the result of reading the list, and the first log entries. */
export const settle = (
  sql: Sql,
  organizationId: OrganizationId,
  id: CampaignId,
  source: { readonly hash: string; readonly sync: StoredSync; readonly telephonyConfigurationId: TelephonyConfigId | undefined }
) => {
  const { accepted, rowsInFile, skipped, warnings } = source.sync
  const read = sourceEntry({ accepted, rowsInFile, skipped, warnings: warnings.length })
  return sql`
    WITH changed AS (
      UPDATE campaigns SET source_hash = ${source.hash}, source_sync = ${JSON.stringify(source.sync)}::text::jsonb,
        total_rows = ${accepted}, telephony_configuration_id = ${source.telephonyConfigurationId ?? null}::int
      WHERE organization_id = ${organizationId} AND id = ${id} RETURNING organization_id, id
    )
    ${intoCampaignLog(sql)}
    SELECT c.organization_id, c.id, e.level, e.event, e.message, e.details
    FROM changed c CROSS JOIN LATERAL (VALUES (1, ${logEntry(sql, createdEntry())}), (2, ${logEntry(sql, read)}))
      AS e (ordinal, level, event, message, details)
    ORDER BY e.ordinal`
}
