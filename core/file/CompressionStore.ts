/** Recordings to be compressed, and their progress. A marked row stays until the WAV is deleted: see migration 0083. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId, RunId } from "#core/Id.ts"
import { compressedKey } from "./RecordingFormat.ts"

type Sql = SqlClient.SqlClient

/** Recordings per batch. */
export const atOnce = 50

export interface Compression {
  /** The key of the WAV. */
  readonly key: string
  readonly organizationId: OrganizationId
  readonly runId: RunId
  /** The key in the run: the WAV's while it is not compressed, null once the recording was deleted. */
  readonly recordingKey: string | null
}

/** The next marked recordings after `after`, if the record of their call is complete. */
export const due = (sql: Sql, after: string) => sql<Compression>`
  SELECT f.key, f.organization_id, r.id AS run_id, r.recording_key
  FROM stored_files f JOIN runs r ON r.id = substring(f.key FROM '/([0-9]+)-')::int AND r.organization_id = f.organization_id
  WHERE f.to_compress AND f.key > ${after} AND r.is_completed ORDER BY f.key LIMIT ${atOnce}`

/** Makes the run refer to the compressed file. Returns false if the run no longer refers to the WAV. */
export const publish = (sql: Sql, { key, organizationId, runId }: Compression, bytes: number) => {
  const compressed = compressedKey(key)
  return sql<{ readonly id: RunId }>`
    WITH named AS (
      UPDATE runs SET recording_key = ${compressed} WHERE id = ${runId} AND organization_id = ${organizationId} AND recording_key = ${key}
      RETURNING id, organization_id
    ), counted AS (
      INSERT INTO stored_files (key, organization_id, bytes) SELECT ${compressed}, organization_id, ${bytes}::bigint FROM named
      ON CONFLICT (key) DO NOTHING
    )
    SELECT id FROM named`.pipe(Effect.map((rows) => rows.length > 0))
}

/** Forgets the WAV once it is deleted. */
export const settle = (sql: Sql, { key, organizationId }: Compression) =>
  sql`DELETE FROM stored_files WHERE key = ${key} AND organization_id = ${organizationId}`

/** Gives up compressing, so that the WAV stays. */
export const giveUp = (sql: Sql, { key, organizationId }: Compression) =>
  sql`UPDATE stored_files SET to_compress = false WHERE key = ${key} AND organization_id = ${organizationId}`
