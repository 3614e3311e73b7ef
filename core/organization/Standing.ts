/**
 * Whether what somebody acts with is still good. A caller was authenticated a moment ago, on any node; whatever grants access and lasts (a key, an
 * invitation, a membership, a session, a link) is granted in a statement or transaction that asks here again.
 */
import { Effect } from "effect"
import { type SqlClient, SqlError } from "effect/sql"
import type { Caller, UserId } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import { roles, RoleTooLow } from "./Role.ts"

type Sql = SqlClient.SqlClient

/**
 * Of a key: neither it nor a key that it descends from is archived or expired, and the user who made it is still a member. `key`: an alias of
 * `api_keys`.
 */
export const isGoodKey = (sql: Sql, key: string) =>
  sql.literal(`NOT EXISTS (
    SELECT 1 FROM api_keys a WHERE a.id = ANY (${key}.ancestors || ${key}.id)
      AND (a.archived_at IS NOT NULL OR a.expires_at <= now() OR (a.user_id IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM memberships n WHERE n.organization_id = a.organization_id AND n.user_id = a.user_id))))`)

export const rank = (sql: Sql, role: string) => sql.literal(`array_position(ARRAY['${roles.join("', '")}'], ${role})`)

/**
 * Grants something in one transaction, which fails unless the caller's session or key is still good, and the role still what it was, or more. `lock`
 * is taken first.
 */
export const whileGood = <A, E>(
  sql: Sql,
  caller: Caller,
  grant: Effect.Effect<A, E | SqlError.SqlError>,
  lock: Effect.Effect<unknown, SqlError.SqlError> = Effect.void
): Effect.Effect<A, E | RoleTooLow> =>
  lock.pipe(
    Effect.andThen(stands(sql, caller)),
    Effect.filterOrFail(
      (isGood) => isGood,
      () => new RoleTooLow()
    ),
    Effect.andThen(grant),
    sql.withTransaction,
    acrossTenants,
    Effect.catchIf(SqlError.isSqlError, Effect.die)
  )

/** What is found stays as it is until the transaction ends. A key is looked at after it is locked: what waited for a lock sees no later change of other rows. */
const stands = (sql: Sql, { apiKeyId, organizationId, role, sessionId, userId }: Caller) => {
  const member = sql`SELECT 1 FROM memberships m WHERE m.organization_id = ${organizationId} AND m.user_id = ${userId ?? null}::int
    AND ${rank(sql, "m.role")} >= ${rank(sql, `'${role}'`)} FOR SHARE`
  const mine = sql`k.organization_id = ${organizationId} AND k.id = ${apiKeyId ?? null}::int`
  const locked = sql`SELECT 1 FROM api_keys k JOIN api_keys a ON a.id = ANY (k.ancestors || k.id) WHERE ${mine} FOR SHARE`
  const key = Effect.andThen(locked, sql`SELECT 1 FROM api_keys k WHERE ${mine} AND ${isGoodKey(sql, "k")}`)
  const session = sql`SELECT 1 FROM sessions s WHERE s.id = ${sessionId ?? null}::uuid AND s.user_id = ${userId ?? null}::int
    AND s.expires_at > now() FOR SHARE`
  const all = [...(userId === undefined ? [] : [member]), apiKeyId === undefined ? session : key]
  return Effect.map(Effect.all(all), (found) => found.every((rows) => rows.length > 0))
}

/** Whether the user's password is still the one that was checked. Until the transaction ends, it stays so. */
export const isStill = (sql: Sql, userId: UserId, passwordHash: string) =>
  sql`SELECT 1 FROM users WHERE id = ${userId} AND password_hash = ${passwordHash} FOR SHARE`.pipe(Effect.map((rows) => rows.length > 0))
