/**
 * Run numbers after a database may have lost runs. A number is part of the names of a call's files, and links to them work for a week: a
 * number that is assigned twice would give access to the files of somebody else's call.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"

/** More calls than can be made between a backup and its restoration, or in the moments that a standby has missed. */
const restoredGap = 10_000_000
const failedOverGap = 100_000
const lastNumber = 2_147_483_647

const skip = (sql: SqlClient.SqlClient, gap: number) =>
  sql`
    WITH next AS MATERIALIZED (SELECT nextval(pg_get_serial_sequence('runs', 'id')) AS number)
    SELECT setval(pg_get_serial_sequence('runs', 'id'), number + least(${gap}::bigint, (${lastNumber}::bigint - number) / 10)) FROM next`.pipe(
    Effect.asVoid
  )

/** From now on, no run gets a number that a lost run may have had. */
export const skipRestored = (sql: SqlClient.SqlClient) => skip(sql, restoredGap)
export const skipFailedOver = (sql: SqlClient.SqlClient) => skip(sql, failedOverGap)
