import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { UserId } from "./Caller.ts"
import type { OpenSession, SessionId } from "./Session.ts"

type Sql = SqlClient.SqlClient
/** Sessions per user; the oldest ones end. */
const mostOpen = 50
export const prunedAtOnce = 1000

/** Returns no id when the password has changed since it was checked. */
export const begin = (
  sql: Sql,
  {
    address,
    hours,
    passwordHash,
    userId
  }: { readonly userId: UserId; readonly passwordHash: string; readonly address: string; readonly hours: number }
) =>
  sql<{ readonly id: SessionId }>`
    WITH checked AS (
      SELECT id FROM users WHERE id = ${userId} AND password_hash = ${passwordHash} FOR SHARE
    ), ended AS (
      DELETE FROM sessions WHERE id IN (
        SELECT id FROM sessions WHERE user_id = ${userId} ORDER BY created_at DESC OFFSET ${mostOpen - 1}::int)
    )
    INSERT INTO sessions (user_id, address, expires_at)
    SELECT id, ${address}, now() + make_interval(hours => ${hours}::int) FROM checked
    RETURNING id`.pipe(Effect.map((rows) => rows[0]?.id))

/** Newest first. */
export const list = (sql: Sql, userId: UserId) => sql<OpenSession>`
  SELECT id, address, created_at, last_used_at, expires_at FROM sessions
  WHERE user_id = ${userId} AND expires_at > now() ORDER BY created_at DESC, id LIMIT ${mostOpen}`

/** Returns false when the user has no such session. */
export const end = (sql: Sql, userId: UserId, id: SessionId) =>
  sql`DELETE FROM sessions WHERE user_id = ${userId} AND id = ${id}::uuid RETURNING 1`.pipe(Effect.map((rows) => rows.length > 0))

export const endAll = (sql: Sql, userId: UserId, but: SessionId | undefined) => sql`
  DELETE FROM sessions WHERE user_id = ${userId} AND id IS DISTINCT FROM ${but ?? null}::uuid`

/** Deletes expired sessions. Returns how many. */
export const prune = (sql: Sql) =>
  sql`
    DELETE FROM sessions WHERE id = ANY (ARRAY(
      SELECT id FROM sessions WHERE expires_at < now() ORDER BY expires_at LIMIT ${prunedAtOnce}::int FOR UPDATE SKIP LOCKED))
    RETURNING 1`.pipe(Effect.map((rows) => rows.length))
