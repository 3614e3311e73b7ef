/**
 * Deletes uploads that nothing was made of: `condemn`, delete each file, then `forget`. A condemned upload counts as not received, so nothing
 * can be made of it any more, and it is found again until it is forgotten. A process that dies in between leaves neither a file without a row
 * nor a campaign without its file.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

type Sql = SqlClient.SqlClient

/** Nothing can be uploaded once the URL has expired, but a client may still be about to use the upload. */
const keptAfterExpiry = "1 day"
export const condemnedAtOnce = 100

/**
 * Spans all organizations, in key order, starting after `after`. Creating a campaign or resource from one of these uploads writes the same row,
 * so it either comes first or finds the upload gone. The NOT EXISTS checks protect uploads that were used without setting `used_at`.
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

/** Forgets uploads whose files are deleted. Returns how many. */
export const forget = (sql: Sql, keys: ReadonlyArray<string>) =>
  sql`DELETE FROM uploads WHERE key = ANY (${keys}::text[]) AND used_at IS NULL AND received_at IS NULL RETURNING key`.pipe(
    Effect.map((rows) => rows.length)
  )
