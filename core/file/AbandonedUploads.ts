/**
 * Uploads of which nothing was made, and how their files go: `condemn`, remove each file, `forget`. A condemned upload has not been received
 * any more, so nothing can be made of it from then on; until it is forgotten it is found again. So a process that dies in between leaves
 * neither a file without a row nor a campaign without its file.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

type Sql = SqlClient.SqlClient

/** After its address has expired nothing is put there any more; a client may still be about to make something of it. */
const keptAfterExpiry = "1 day"
export const condemnedAtOnce = 100

/**
 * Of all organizations, in the order of their keys, those after `after`. Whoever makes a campaign or a resource of one at the same moment
 * comes first, or finds that it is gone: both write the same row. That nothing names the file is true of every unused upload; it is asked
 * for what was written past the column that says so.
 */
export const condemn = (sql: Sql, after: string) =>
  sql<{ readonly key: string }>`
    WITH condemned AS (
      UPDATE uploads SET received_at = NULL WHERE key = ANY (ARRAY(
        SELECT u.key FROM uploads u
        WHERE u.used_at IS NULL AND u.key > ${after} AND u.expires_at < now() - ${keptAfterExpiry}::text::interval
          AND NOT EXISTS (SELECT 1 FROM campaigns WHERE source_id = u.key)
          AND NOT EXISTS (SELECT 1 FROM recordings WHERE storage_key = u.key)
          AND NOT EXISTS (SELECT 1 FROM documents WHERE storage_key = u.key)
        ORDER BY u.key LIMIT ${condemnedAtOnce}::int FOR UPDATE SKIP LOCKED
      ))
      RETURNING key
    )
    SELECT key FROM condemned ORDER BY key`.pipe(Effect.map((rows) => rows.map(({ key }) => key)))

/** Those whose files are gone; how many they were. */
export const forget = (sql: Sql, keys: ReadonlyArray<string>) =>
  sql`DELETE FROM uploads WHERE key = ANY (${keys}::text[]) AND used_at IS NULL AND received_at IS NULL RETURNING key`.pipe(
    Effect.map((rows) => rows.length)
  )
