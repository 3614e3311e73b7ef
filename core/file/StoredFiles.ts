/** The sizes of the files stored for organizations. Triggers on the tables that name a file free its space: see migration 0062. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { DefaultRecordingFormat } from "./RecordingFormat.ts"
import { defaultQuotas } from "#core/organization/Quota.ts"

type Sql = SqlClient.SqlClient

export interface StoredFile {
  readonly organizationId: OrganizationId
  readonly key: string
  readonly bytes: number
}

/** Files that are counted already are skipped. A call's recording is marked if its organization wants it compressed. */
export const add = Effect.fnUntraced(function* (sql: Sql, files: ReadonlyArray<StoredFile>) {
  const rows = JSON.stringify(files.map(({ bytes, key, organizationId }) => ({ key, organization_id: organizationId, bytes })))
  yield* sql`
    INSERT INTO stored_files (key, organization_id, bytes, to_compress)
    SELECT key, organization_id, bytes,
      key ~ '^recordings/[0-9]{1,9}-[^/]+[.]wav$' AND coalesce(recording_format, ${yield* DefaultRecordingFormat}) = 'opus'
    FROM jsonb_to_recordset(${rows}::text::jsonb) AS given (key text, organization_id int, bytes bigint)
      LEFT JOIN retention USING (organization_id)
    ON CONFLICT (key) DO NOTHING`
})

interface FullStorage {
  readonly organizationId: OrganizationId
  readonly used: number
}

/** Organizations that have used up their storage quota. */
export const full = (sql: Sql) => sql<FullStorage>`
  SELECT organization_id, used FROM quotas WHERE name = 'storage_bytes'
    AND used >= least(coalesce(allowed, ${defaultQuotas.storage_bytes}::bigint), own)`

/** Notifies those who follow the organization's events. */
export const tellFull = (sql: Sql, { organizationId, used }: FullStorage) => sql`
  SELECT add_event(${organizationId}::int, 'storage.full', 'organization', jsonb_build_object('used_bytes', ${used}::bigint))`

/** Runs per batch, in id order. */
const runsAtOnce = 2000
const resourcesAtOnce = 200

export interface NamedFile {
  readonly organizationId: OrganizationId
  readonly key: string
}

/** The uncounted files of the next batch of runs after `after`, and the last run of that batch; undefined if there are no more runs. */
export const uncountedOfRuns = Effect.fnUntraced(function* (sql: Sql, after: number) {
  const [last] = yield* sql<{ readonly id: RunId | null; readonly count: number }>`
    SELECT max(id) AS id, count(*)::int AS count FROM (SELECT id FROM runs WHERE id > ${after}::int ORDER BY id LIMIT ${runsAtOnce}::int) AS part`
  const until = last?.id ?? undefined
  if (until === undefined) return undefined
  const files = yield* sql<NamedFile>`
    SELECT r.organization_id, k.key FROM runs r CROSS JOIN LATERAL (VALUES (r.recording_key), (r.transcript_key)) AS k (key)
    WHERE r.id > ${after}::int AND r.id <= ${until}::int AND k.key IS NOT NULL
      AND NOT EXISTS (SELECT FROM stored_files f WHERE f.key = k.key)`
  return { files, until, isLast: last?.count !== runsAtOnce }
})

/** The same for recordings that agents play, for those stored before sizes were counted. */
export const uncountedRecordings = (sql: Sql, after: number) => sql<NamedFile & { readonly id: number }>`
  SELECT id, organization_id, storage_key AS key FROM recordings r
  WHERE id > ${after}::int AND NOT EXISTS (SELECT FROM stored_files f WHERE f.key = r.storage_key) ORDER BY id LIMIT ${resourcesAtOnce}::int`

/** Forgets counted files that their run no longer names: they were deleted before their size was counted. Returns how many. */
export const forgetUnnamed = (sql: Sql) =>
  sql`
    DELETE FROM stored_files f USING runs r
    WHERE f.key ~ '^(recordings|transcripts)/[0-9]{1,9}-' AND r.id = substring(f.key FROM '/([0-9]+)-')::int AND r.is_completed
      AND NOT f.to_compress AND f.key IS DISTINCT FROM r.recording_key AND f.key IS DISTINCT FROM r.transcript_key RETURNING f.key`.pipe(
    Effect.map((rows) => rows.length)
  )
