/**
 * How attempts end: one statement records the ends of several, each with its run, the fate of its contact and the campaign's counters. The
 * actors of calls that end at the same time share a statement, because most of what one costs is the same for many.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { completionEntry, intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import type { RetryConfig } from "#core/campaign/RetryPolicy.ts"
import type { CallId, CampaignId } from "#core/Id.ts"
import { countsAsFailedCall, isBreakerFailure } from "#core/outcome/Outcome.ts"
import { storableJson } from "#core/storable.ts"
import type { AttemptEnd, ContactFate } from "./Attempt.ts"
import { freedBy, freeing } from "./NumberHold.ts"

/** The retry decision, and the version of the settings that it is based on. */
export interface Decided {
  readonly fate: ContactFate
  readonly settingsVersion: number
}

export interface DecidedEnd {
  readonly callId: CallId
  readonly end: AttemptEnd
  /** Undefined for a single call. */
  readonly decided: Decided | undefined
}

/** `Stale`: the campaign's settings changed after the decision was made; decide again with these. */
export type Finished =
  | { readonly _tag: "Done"; readonly campaignCompleted: boolean; readonly breakerEntry: boolean }
  | { readonly _tag: "AlreadyOver" }
  | { readonly _tag: "Stale"; readonly settingsVersion: number; readonly retry: RetryConfig; readonly breakerEnabled: boolean }

type Sql = SqlClient.SqlClient

interface FinishRow {
  readonly callId: CallId
  readonly found: boolean
  readonly completed: boolean
  readonly entry: boolean
  readonly current: { readonly settingsVersion: number; readonly retry: RetryConfig; readonly breakerEnabled: boolean } | null
}

const writtenOffEntry = (sql: Sql) =>
  logEntry(sql, {
    level: "warning",
    event: "attempt_written_off",
    message: sql.literal("'It is unknown whether a call was placed; its contact is not dialed again.'"),
    details: sql.literal("jsonb_build_object('row', row_no)")
  })

/** Only if needed: each table that a statement may write costs time, even if it writes nothing there. */
const writingOff = (sql: Sql) => sql`written_off AS (
      ${intoCampaignLog(sql)}
      SELECT organization_id, campaign_id, ${writtenOffEntry(sql)} FROM ended WHERE campaign_id IS NOT NULL AND outcome = 'unknown'
    ), `

/** An end as the statement reads it: undefined becomes NULL. */
const toldOf = ({ callId, decided, end }: DecidedEnd) => {
  const { record } = end
  const fate = decided?.fate
  const waits = fate?.state === "retry_wait" ? fate : undefined
  return {
    id: callId,
    outcome: end.outcome,
    cause: end.cause,
    answered_at: end.answeredAt,
    ended_at: end.endedAt,
    endpoint: end.endpoint,
    provider_call_id: end.providerCallId,
    caller_number: end.callerNumber,
    fetched: end.fetchedContext,
    settings_version: decided?.settingsVersion,
    fate: fate?.state,
    due_at: waits?.dueAt,
    retry_reason: waits?.reason,
    is_failure: isBreakerFailure(end.outcome),
    is_failed_call: countsAsFailedCall(end.outcome),
    gathered_context: record.gatheredContext,
    call_tags: record.gatheredContext.call_tags ?? [],
    usage_info: record.usageInfo,
    cost_info: record.costInfo,
    logs: record.logs,
    annotations: record.annotations ?? {},
    transcript_key: record.transcriptKey,
    recording_key: record.recordingKey
  }
}

// Attempts, runs and contacts are found by arrays, not by joins: the planner does not know how few ends there are, and would read whole tables.
// The states of attempts are read when they are locked: as a condition of the update, they would make it search all live attempts for these few.
// Locks are taken in one order, here and in a claim: first campaigns by id, and then attempts by their numbers.
export const finish = Effect.fnUntraced(function* (sql: Sql, given: ReadonlyArray<DecidedEnd>) {
  // Of an attempt that is ended twice, the first end counts.
  const first = new Map(given.toReversed().map((end) => [end.callId, end]))
  const [callIds, ends] = [[...first.keys()], [...first.values()]]
  const [row] = yield* sql<{ readonly rows: ReadonlyArray<FinishRow>; readonly freed: ReadonlyArray<CampaignId> }>`
    WITH told AS MATERIALIZED (
      SELECT * FROM jsonb_to_recordset(${storableJson(ends.map(toldOf))}::text::jsonb) AS told (id uuid, outcome text, cause text,
        answered_at float8, ended_at float8, endpoint text, provider_call_id text, caller_number text, fetched jsonb,
        settings_version int, fate text, due_at float8, retry_reason text, is_failure bool, is_failed_call bool,
        gathered_context jsonb, call_tags jsonb, usage_info jsonb, cost_info jsonb, logs jsonb, annotations jsonb, transcript_key text,
        recording_key text)
    ), settings AS MATERIALIZED (
      SELECT id, settings_version, retry_config, circuit_breaker, breaker_epoch, state FROM campaigns
      WHERE id = ANY (ARRAY(SELECT campaign_id FROM attempts WHERE id = ANY (${callIds}::uuid[]))) ORDER BY id FOR UPDATE
    ), locked AS MATERIALIZED (
      SELECT id, state, campaign_id, breaker_epoch, holds_number, awaited_by FROM attempts
      WHERE id = ANY (${callIds}::uuid[]) AND (SELECT count(*) FROM settings) IS NOT NULL
      ORDER BY phone_number FOR UPDATE
    ), judged AS MATERIALIZED (
      SELECT told.*, locked.state IN ('intent', 'sent', 'answered')
          AND (locked.campaign_id IS NULL OR settings.settings_version = told.settings_version) AS is_open,
        settings.state = 'running' AND settings.breaker_epoch = locked.breaker_epoch AS is_entry,
        CASE WHEN settings.settings_version <> told.settings_version THEN jsonb_build_object('settingsVersion', settings.settings_version,
          'retry', retry_config, 'breakerEnabled', coalesce((circuit_breaker ->> 'enabled')::bool, false)) END AS current
      FROM told JOIN locked USING (id) LEFT JOIN settings ON settings.id = locked.campaign_id
    ), ended AS (
      UPDATE attempts SET state = 'ended', outcome = told.outcome, hangup_cause = told.cause,
        answered_at = coalesce(attempts.answered_at, to_timestamp(told.answered_at / 1000)),
        endpoint = coalesce(told.endpoint, attempts.endpoint),
        provider_call_id = coalesce(told.provider_call_id, attempts.provider_call_id),
        ended_at = to_timestamp(told.ended_at / 1000), holds_number = holds_number AND told.outcome = 'unknown',
        breaker_failure = CASE WHEN told.is_entry THEN told.is_failure END
      FROM judged AS told WHERE attempts.id = ANY (ARRAY(SELECT id FROM judged WHERE is_open)) AND attempts.id = told.id
      RETURNING attempts.id, organization_id, campaign_id, row_no, breaker_failure, phone_number, holds_number, awaited_by, told.outcome,
        told.ended_at, told.fate, told.due_at, told.retry_reason, told.is_failed_call, told.caller_number, told.fetched, told.gathered_context,
        told.call_tags, told.usage_info, told.cost_info, told.logs, told.annotations, told.transcript_key, told.recording_key
    ), recorded AS (
      UPDATE runs SET is_completed = true, completed_at = to_timestamp(ended.ended_at / 1000),
        gathered_context = ended.gathered_context
          || jsonb_build_object('call_tags', coalesce(runs.gathered_context -> 'call_tags', '[]') || ended.call_tags),
        usage_info = ended.usage_info, cost_info = ended.cost_info, logs = ended.logs,
        annotations = nullif(coalesce(runs.annotations, '{}') || ended.annotations, '{}'),
        transcript_key = ended.transcript_key, recording_key = ended.recording_key,
        initial_context = CASE WHEN ended.caller_number IS NULL AND ended.fetched IS NULL THEN runs.initial_context
          ELSE jsonb_strip_nulls(jsonb_build_object('caller_number', ended.caller_number)) || runs.initial_context
            || coalesce(ended.fetched, '{}') END
      FROM ended WHERE runs.attempt_id = ANY (ARRAY(SELECT id FROM ended)) AND runs.attempt_id = ended.id
      RETURNING runs.id
    ), talked AS (
      -- The record has what its conversation left behind.
      DELETE FROM conversation_entries WHERE call_id = ANY (ARRAY(SELECT id FROM ended))
    ), settled AS (
      UPDATE contacts SET state = ended.fate, last_outcome = ended.outcome,
        retries_used = retries_used + (ended.fate = 'retry_wait')::int, retry_reason = ended.retry_reason,
        due_at = to_timestamp(ended.due_at / 1000)
      FROM ended
      WHERE contacts.campaign_id = ANY (ARRAY(SELECT id FROM settings)) AND contacts.row_no = ANY (ARRAY(SELECT row_no FROM ended))
        AND contacts.campaign_id = ended.campaign_id AND contacts.row_no = ended.row_no AND contacts.state IN ('dialing', 'in_call')
      RETURNING contacts.campaign_id, ended.fate, ended.is_failed_call, ended.ended_at
    ), sums AS (
      SELECT campaign_id, count(*) FILTER (WHERE fate = 'completed') AS completed, count(*) FILTER (WHERE fate = 'failed') AS failed,
        count(*) FILTER (WHERE fate = 'retry_wait') AS waiting, count(*) FILTER (WHERE is_failed_call) AS failed_calls,
        max(ended_at) FILTER (WHERE fate <> 'retry_wait') AS over_at
      FROM settled GROUP BY campaign_id
    ), counted AS (
      UPDATE campaigns SET completed_rows = completed_rows + sums.completed, failed_rows = failed_rows + sums.failed,
        failed_calls = campaigns.failed_calls + sums.failed_calls, retries_queued = retries_queued + sums.waiting,
        state = CASE WHEN state = 'running' AND over_at IS NOT NULL
          AND completed_rows + failed_rows + cancelled_rows + sums.completed + sums.failed = total_rows THEN 'completed' ELSE state END,
        completed_at = CASE WHEN state = 'running' AND over_at IS NOT NULL
          AND completed_rows + failed_rows + cancelled_rows + sums.completed + sums.failed = total_rows
          THEN to_timestamp(over_at / 1000) ELSE completed_at END
      -- The runs first: their events precede that of the campaign that is completed with them.
      FROM sums WHERE campaigns.id = ANY (ARRAY(SELECT id FROM settings)) AND campaigns.id = sums.campaign_id
        AND (SELECT count(*) FROM recorded) IS NOT NULL
      RETURNING campaigns.id, campaigns.organization_id, campaigns.state, total_rows, completed_rows, failed_rows, cancelled_rows
    ), logged AS (
      ${intoCampaignLog(sql)} SELECT c.organization_id, c.id, ${completionEntry(sql)} FROM counted c WHERE c.state = 'completed'
    ), ${ends.some(({ end }) => end.outcome === "unknown") ? writingOff(sql) : sql.literal("")}${freeing(sql, "ended")}
    SELECT ${freedBy(sql, "ended", sql`SELECT holds_number, awaited_by FROM locked WHERE state IN ('ended', 'void')`)},
      (SELECT coalesce(jsonb_agg(jsonb_build_object('callId', judged.id, 'found', ended.id IS NOT NULL, 'entry', breaker_failure IS NOT NULL,
          'completed', EXISTS (SELECT 1 FROM counted WHERE counted.id = ended.campaign_id AND counted.state = 'completed'),
          'current', current)), '[]')
        FROM judged LEFT JOIN ended USING (id)) AS rows`
  const byCall = new Map(row?.rows.map((one) => [one.callId, one]))
  const finished = given.map(
    (end): Finished => (first.get(end.callId) === end ? finishedOf(byCall.get(end.callId)) : { _tag: "AlreadyOver" })
  )
  return { finished, freed: row?.freed ?? [] }
})

const finishedOf = (row: FinishRow | undefined): Finished => {
  if (row === undefined || (!row.found && row.current === null)) return { _tag: "AlreadyOver" }
  if (!row.found && row.current !== null) return { _tag: "Stale", ...row.current }
  return { _tag: "Done", campaignCompleted: row.completed, breakerEntry: row.entry }
}
