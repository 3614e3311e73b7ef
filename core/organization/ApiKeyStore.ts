import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { ApiKey } from "./ApiKey.ts"
import type { ApiKeyId, Caller, UserId } from "./Caller.ts"
import type { SetAllowance } from "./Quota.ts"
import { setAllowance } from "./QuotaStore.ts"
import { isGoodKey } from "./Standing.ts"
import type { Role } from "./Role.ts"
import type { Scope } from "./Scope.ts"

type Sql = SqlClient.SqlClient
const listLimit = 1000

const columns = (sql: Sql) =>
  sql`id, name, key_prefix, role, scopes, is_operator, created_at, last_used_at, archived_at, expires_at,
  ancestors[cardinality(ancestors)] AS made_with, ${isGoodKey(sql, "api_keys")} AS is_active`

export interface FoundKey {
  readonly organizationId: OrganizationId
  readonly apiKeyId: ApiKeyId
  readonly role: Role
  readonly scopes: ReadonlyArray<Scope> | null
  readonly isOperator: boolean
  readonly allowance: SetAllowance
  readonly userId: UserId | null
  /** The current role of the user who created the key. */
  readonly userRole: Role | null
}

// `last_used_at` is accurate to a minute, so that keeping it costs no write per request.
export const use = (sql: Sql, keyHash: string) =>
  sql<FoundKey>`
    WITH found AS (
      SELECT k.id, k.organization_id, k.last_used_at, k.role, k.scopes, k.is_operator, k.user_id, m.role AS user_role
      FROM api_keys k LEFT JOIN memberships m ON m.organization_id = k.organization_id AND m.user_id = k.user_id
      WHERE k.key_hash = ${keyHash} AND ${isGoodKey(sql, "k")}
    ), used AS (
      UPDATE api_keys k SET last_used_at = now() FROM found f
      WHERE k.id = f.id AND (f.last_used_at IS NULL OR f.last_used_at < now() - interval '1 minute')
    )
    SELECT organization_id, id AS api_key_id, role, scopes, is_operator, user_id, user_role, ${setAllowance(sql, "found.organization_id")}
    FROM found`.pipe(Effect.map((rows) => rows[0]))

export const list = (sql: Sql, organizationId: OrganizationId, withArchived: boolean) => sql<ApiKey>`
  SELECT ${columns(sql)} FROM api_keys
  WHERE organization_id = ${organizationId} AND (${withArchived} OR archived_at IS NULL) ORDER BY id LIMIT ${listLimit}`

export const insert = (
  sql: Sql,
  key: {
    readonly organizationId: OrganizationId
    readonly name: string
    readonly keyPrefix: string
    readonly keyHash: string
    readonly role: Role
    readonly scopes: ReadonlyArray<Scope> | undefined
    readonly expiresAt: Date | undefined
    readonly userId: UserId | undefined
    /** The new key is good for as long as this one is. */
    readonly madeWith: ApiKeyId | undefined
    readonly isOperator: boolean
  }
) => sql<ApiKey>`
  INSERT INTO api_keys (organization_id, name, key_prefix, key_hash, role, scopes, expires_at, user_id, is_operator, ancestors)
  VALUES (${key.organizationId}, ${key.name}, ${key.keyPrefix}, ${key.keyHash}, ${key.role},
    (SELECT array_agg(scope) FROM jsonb_array_elements_text(${key.scopes === undefined ? null : JSON.stringify(key.scopes)}::text::jsonb) scope),
    least(${key.expiresAt ?? null}::timestamptz, (SELECT expires_at FROM api_keys WHERE id = ${key.madeWith ?? null}::int)), ${key.userId ?? null}::int,
    ${key.isOperator}, coalesce((SELECT ancestors || id FROM api_keys WHERE id = ${key.madeWith ?? null}::int), '{}'))
  RETURNING ${columns(sql)}`

export interface Reach {
  readonly role: Role
  readonly scopes: ReadonlyArray<Scope> | null
  readonly isOperator: boolean
  /** Whether the key expires later than the caller's own. */
  readonly lastsLonger: boolean
}

export const reachOf = (sql: Sql, { apiKeyId, organizationId }: Caller, id: ApiKeyId) =>
  sql<Reach>`
    SELECT role, scopes, is_operator, coalesce(expires_at, 'infinity') >
        coalesce((SELECT expires_at FROM api_keys WHERE id = ${apiKeyId ?? null}::int), 'infinity') AS lasts_longer
    FROM api_keys WHERE organization_id = ${organizationId} AND id = ${id}`.pipe(Effect.map((rows) => rows[0]))

/** A key that is archived already keeps its archival time. */
export const archive = (sql: Sql, organizationId: OrganizationId, id: ApiKeyId) => sql`
  UPDATE api_keys SET archived_at = coalesce(archived_at, now()) WHERE organization_id = ${organizationId} AND id = ${id}`

/** Returns no row when the key is not archived. */
export const reactivate = (sql: Sql, organizationId: OrganizationId, id: ApiKeyId) => sql`
  UPDATE api_keys SET archived_at = NULL WHERE organization_id = ${organizationId} AND id = ${id} AND archived_at IS NOT NULL RETURNING id`

/** Lists the operator keys of all organizations. */
export const listOperators = (sql: Sql) =>
  sql<ApiKey>`SELECT ${columns(sql)} FROM api_keys WHERE is_operator ORDER BY id LIMIT ${listLimit}`

/** Locks all operator keys, so that no other is archived before the transaction ends. */
export const lockOperators = (sql: Sql) =>
  sql<{ readonly id: ApiKeyId; readonly isActive: boolean }>`
    SELECT id, archived_at IS NULL AS is_active FROM api_keys WHERE is_operator ORDER BY id FOR NO KEY UPDATE`

export const archiveOperator = (sql: Sql, id: ApiKeyId) => sql`
  UPDATE api_keys SET archived_at = coalesce(archived_at, now()) WHERE is_operator AND id = ${id}`
