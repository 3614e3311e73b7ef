/** Checks the credentials named in what is about to be saved against their lists of hosts, and extends these for administrators. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { CurrentRole, mayAdminister } from "#core/organization/CurrentRole.ts"
import { type CredentialUse, hostRefusedMessage, hostsFullMessage, mayBeSentTo, mostHosts } from "./CredentialHosts.ts"
import { isUuid } from "#core/Uuid.ts"

type Sql = SqlClient.SqlClient

/** A use that is refused, and why, as told to whoever saves it. */
interface RefusedUse {
  readonly use: CredentialUse
  readonly reason: string
}

/** Returns the refused uses. If there are none, an administrator's new hosts are on the lists when this returns. */
export const settle = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, uses: ReadonlyArray<CredentialUse>) {
  const named = uses.filter(({ uuid }) => isUuid(uuid))
  if (named.length === 0) return []
  if (mayAdminister(yield* CurrentRole)) return yield* grant(sql, organizationId, named)
  const rows = yield* sql<{ readonly uuid: string; readonly allowedHosts: ReadonlyArray<string> }>`
    SELECT uuid, allowed_hosts FROM credentials
    WHERE organization_id = ${organizationId} AND uuid = ANY(${[...new Set(named.map(({ uuid }) => uuid))]}::uuid[])`
  const lists = new Map(rows.map(({ allowedHosts, uuid }) => [uuid, allowedHosts]))
  // A credential that does not exist is not sent at all, so it is not refused.
  return named
    .filter(({ host, uuid }) => !mayBeSentTo(lists.get(uuid) ?? [host], `https://${host}`))
    .map((use): RefusedUse => ({ use, reason: hostRefusedMessage(use.host) }))
})

interface FullList {
  readonly uuid: string
  readonly name: string
  readonly allowedHosts: ReadonlyArray<string>
}

/** Either all lists take their new hosts, or none does. Rows are locked in id order, so that two concurrent saves cannot deadlock. */
const grant = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, uses: ReadonlyArray<CredentialUse>) {
  const full = yield* sql<FullList>`
    WITH wanted AS (
      SELECT (use ->> 'uuid')::uuid AS uuid, array_agg(DISTINCT use ->> 'host') AS hosts
      FROM jsonb_array_elements(${JSON.stringify(uses)}::text::jsonb) AS use GROUP BY 1
    ), held AS (
      SELECT c.id, c.uuid, c.name, c.allowed_hosts,
        ARRAY(SELECT DISTINCT host FROM unnest(c.allowed_hosts || wanted.hosts) AS host ORDER BY host) AS hosts
      FROM credentials c JOIN wanted USING (uuid)
      WHERE c.organization_id = ${organizationId} AND NOT c.allowed_hosts @> wanted.hosts
      ORDER BY c.id FOR UPDATE OF c
    ), full_lists AS (
      SELECT uuid, name, allowed_hosts FROM held WHERE cardinality(hosts) > ${mostHosts}::int
    ), extended AS (
      UPDATE credentials SET allowed_hosts = held.hosts
      FROM held WHERE credentials.id = held.id AND NOT EXISTS (SELECT FROM full_lists)
    )
    SELECT * FROM full_lists`
  const lists = new Map(full.map((list) => [list.uuid, list]))
  return uses.flatMap((use): ReadonlyArray<RefusedUse> => {
    const list = lists.get(use.uuid)
    return list === undefined || list.allowedHosts.includes(use.host) ? [] : [{ use, reason: hostsFullMessage(list.name, use.host) }]
  })
})
