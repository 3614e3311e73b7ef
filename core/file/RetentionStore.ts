/** The retention settings of organizations, and the runs whose files have expired. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { Retention } from "./Retention.ts"
import type { RunLogs } from "#core/run/RunRecord.ts"

type Sql = SqlClient.SqlClient

export const artifactKinds = ["recording", "transcript"] as const
export type ArtifactKind = (typeof artifactKinds)[number]

/** Runs per batch. */
export const atOnce = 200
const organizationsAtOnce = 10_000

const unlimited: Retention = {
  recordingsDays: null,
  transcriptsDays: null,
  keepsRecordings: true,
  keepsTranscripts: true,
  recordingFormat: null
}

export const find = (sql: Sql, id: OrganizationId) =>
  sql<Retention>`
    SELECT recordings_days, transcripts_days, keeps_recordings, keeps_transcripts, recording_format FROM retention
    WHERE organization_id = ${id}`.pipe(Effect.map(([row]): Retention => row ?? unlimited))

/** Undefined fields stay unchanged. */
export const put = (sql: Sql, id: OrganizationId, changes: Partial<Retention>) => {
  const { keepsRecordings, keepsTranscripts, recordingFormat, recordingsDays, transcriptsDays } = changes
  return sql`
  INSERT INTO retention AS r (organization_id, recordings_days, transcripts_days, keeps_recordings, keeps_transcripts, recording_format)
  VALUES (${id}, ${recordingsDays ?? null}::int, ${transcriptsDays ?? null}::int, ${keepsRecordings ?? true}::bool,
    ${keepsTranscripts ?? true}::bool, ${recordingFormat ?? null}::text)
  ON CONFLICT (organization_id) DO UPDATE SET
    recordings_days = CASE WHEN ${recordingsDays === undefined} THEN r.recordings_days ELSE excluded.recordings_days END,
    transcripts_days = CASE WHEN ${transcriptsDays === undefined} THEN r.transcripts_days ELSE excluded.transcripts_days END,
    keeps_recordings = coalesce(${keepsRecordings ?? null}::bool, r.keeps_recordings),
    keeps_transcripts = coalesce(${keepsTranscripts ?? null}::bool, r.keeps_transcripts),
    recording_format = CASE WHEN ${recordingFormat === undefined} THEN r.recording_format ELSE excluded.recording_format END`
}

/** All organizations with a limit for this kind. */
export const limited = (sql: Sql, kind: ArtifactKind) =>
  sql<{ readonly organizationId: OrganizationId }>`
    SELECT organization_id FROM retention WHERE ${sql.literal(`${kind}s_days`)} IS NOT NULL ORDER BY organization_id LIMIT ${organizationsAtOnce}`.pipe(
    Effect.map((rows) => rows.map(({ organizationId }) => organizationId))
  )

interface ExpiredRun {
  readonly id: RunId
  /** Null when there is no such file, or it is deleted already. */
  readonly key: string | null
}

/** The oldest unprocessed runs beyond the retention period. The list ends before the first run that is not completed yet. */
export const expired = (sql: Sql, id: OrganizationId, kind: ArtifactKind) =>
  sql<ExpiredRun & { readonly isCompleted: boolean }>`
    SELECT r.id, ${sql.literal(`r.${kind}_key`)} AS key, r.is_completed
    FROM retention t JOIN runs r ON r.organization_id = t.organization_id
      AND (r.created_at, r.id) > (${sql.literal(`t.${kind}s_until, t.${kind}s_run`)})
      AND r.created_at < now() - make_interval(days => ${sql.literal(`t.${kind}s_days`)})
    WHERE t.organization_id = ${id} ORDER BY r.created_at, r.id LIMIT ${atOnce}`.pipe(
    Effect.map((rows): ReadonlyArray<ExpiredRun> => {
      const end = rows.findIndex(({ isCompleted }) => !isCompleted)
      return end === -1 ? rows : rows.slice(0, end)
    })
  )

const spoken: keyof RunLogs = "realtime_feedback_events"

/** Removes deleted files from their runs. Together with a transcript, the run loses the feedback events and the turns of a text chat, which quote it. */
export const forget = (sql: Sql, id: OrganizationId, kind: ArtifactKind, runs: ReadonlyArray<RunId>) =>
  kind === "recording"
    ? sql`UPDATE runs SET recording_key = NULL WHERE organization_id = ${id} AND id = ANY(${runs}::int[]) AND recording_key IS NOT NULL`
    : sql`
        WITH unwritten AS (DELETE FROM text_chat_turns WHERE organization_id = ${id} AND run_id = ANY(${runs}::int[]))
        UPDATE runs SET transcript_key = NULL, logs = CASE WHEN jsonb_exists(logs, ${spoken}::text)
          THEN jsonb_set(logs, ARRAY[${spoken}]::text[], '[]') ELSE logs END
        WHERE organization_id = ${id} AND id = ANY(${runs}::int[])
          AND (transcript_key IS NOT NULL OR jsonb_exists(logs, ${spoken}::text))`

/** Records that all runs up to this one have been processed. */
export const advance = (sql: Sql, id: OrganizationId, kind: ArtifactKind, run: RunId) => sql`
  UPDATE retention SET (${sql.literal(`${kind}s_until, ${kind}s_run`)}) = (SELECT created_at, id FROM runs WHERE organization_id = ${id} AND id = ${run})
  WHERE organization_id = ${id}`
