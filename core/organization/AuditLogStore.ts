import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import type { AuditEntry, AuditRecord } from "./AuditEntry.ts"

type Sql = SqlClient.SqlClient
export const prunedAtOnce = 1000

const rowOf = ({ action, address, caller, resourceId, resourceKind }: AuditEntry) => ({
  organization_id: caller.organizationId,
  user_id: caller.userId,
  api_key_id: caller.apiKeyId,
  action,
  resource_kind: resourceKind,
  resource_id: resourceId,
  address: address === "" ? undefined : address
})

export const insert = (sql: Sql, entries: ReadonlyArray<AuditEntry>) => sql`
  INSERT INTO audit_log (organization_id, user_id, api_key_id, action, resource_kind, resource_id, address)
  SELECT * FROM jsonb_to_recordset(${JSON.stringify(entries.map(rowOf))}::text::jsonb)
    AS entry (organization_id int, user_id int, api_key_id int, action text, resource_kind text, resource_id text, address text)`

export const list = (
  sql: Sql,
  organizationId: OrganizationId,
  { before, limit }: { readonly before: number | undefined; readonly limit: number }
) => sql<AuditRecord>`
  SELECT a.id, a.at, a.user_id, u.email AS user_email, a.api_key_id, k.name AS api_key_name, a.action, a.resource_kind, a.resource_id, a.address
  FROM audit_log a LEFT JOIN users u ON u.id = a.user_id
  LEFT JOIN api_keys k ON k.id = a.api_key_id AND k.organization_id = a.organization_id
  WHERE a.organization_id = ${organizationId} AND a.id < coalesce(${before ?? null}::bigint, 9223372036854775807)
  ORDER BY a.id DESC LIMIT ${limit}`

/** Deletes those of the oldest entries, across all organizations, that are older than `days`. Returns how many. */
export const prune = (sql: Sql, days: number) =>
  sql`
    DELETE FROM audit_log WHERE id = ANY (ARRAY(SELECT id FROM audit_log ORDER BY id LIMIT ${prunedAtOnce}::int FOR UPDATE SKIP LOCKED))
      AND at < now() - make_interval(days => ${days}::int) RETURNING id`.pipe(Effect.map((rows) => rows.length))
