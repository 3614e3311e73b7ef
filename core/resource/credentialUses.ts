/** Holds what is about to be saved against the lists of the credentials that it names, and adds to these for those who may. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "../Id.ts"
import { CurrentRole, mayAdminister } from "../organization/CurrentRole.ts"
import { type CredentialUse, mayBeSentTo, mostHosts } from "./CredentialHosts.ts"
import { isUuid } from "./Uuid.ts"

type Sql = SqlClient.SqlClient

/** The uses that are refused, if the caller is no administrator; the hosts of an administrator's are on the lists when this returns. */
export const settle = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, uses: ReadonlyArray<CredentialUse>) {
  const named = uses.filter(({ uuid }) => isUuid(uuid))
  if (named.length === 0) return []
  if (mayAdminister(yield* CurrentRole)) {
    yield* grant(sql, organizationId, named)
    return []
  }
  const rows = yield* sql<{ readonly uuid: string; readonly allowedHosts: ReadonlyArray<string> }>`
    SELECT uuid, allowed_hosts FROM credentials
    WHERE organization_id = ${organizationId} AND uuid = ANY(${[...new Set(named.map(({ uuid }) => uuid))]}::uuid[])`
  const lists = new Map(rows.map(({ allowedHosts, uuid }) => [uuid, allowedHosts]))
  // One that is not there is sent nowhere.
  return named.filter(({ host, uuid }) => !mayBeSentTo(lists.get(uuid) ?? [host], `https://${host}`))
})

/** In the order of their ids, so that two who save at once never wait for each other. */
const grant = (sql: Sql, organizationId: OrganizationId, uses: ReadonlyArray<CredentialUse>) => sql`
  WITH wanted AS (
    SELECT (use ->> 'uuid')::uuid AS uuid, array_agg(DISTINCT use ->> 'host') AS hosts
    FROM jsonb_array_elements(${JSON.stringify(uses)}::text::jsonb) AS use GROUP BY 1
  ), held AS (
    SELECT c.id, wanted.hosts FROM credentials c JOIN wanted USING (uuid)
    WHERE c.organization_id = ${organizationId} AND NOT c.allowed_hosts @> wanted.hosts AND cardinality(c.allowed_hosts) < ${mostHosts}::int
    ORDER BY c.id FOR UPDATE OF c
  )
  UPDATE credentials SET allowed_hosts =
    ARRAY(SELECT DISTINCT host FROM unnest(allowed_hosts || held.hosts) AS host ORDER BY host)
  FROM held WHERE credentials.id = held.id`
