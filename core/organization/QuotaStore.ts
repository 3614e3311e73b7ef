import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { allowanceNames, QuotaFull, type QuotaName, quotaOf, type SetLimits } from "./Quota.ts"

type Sql = SqlClient.SqlClient

interface QuotaRow extends SetLimits {
  readonly organizationId: OrganizationId
  readonly name: QuotaName
  readonly used: number
}
const columns = (sql: Sql) => sql.literal("organization_id, name, allowed, own, used")

/** Returns only quotas that are set or used. */
export const list = (sql: Sql, ids: ReadonlyArray<OrganizationId>) =>
  sql<QuotaRow>`SELECT ${columns(sql)} FROM quotas WHERE organization_id = ANY(${ids}::int[])`

/** The stored part of an organization's allowance, to be selected with its caller. */
export const setAllowance = (sql: Sql, organization: string) =>
  sql.literal(`(SELECT jsonb_object_agg(q.name, jsonb_build_object('allowed', q.allowed, 'own', q.own)) FROM quotas q
    WHERE q.organization_id = ${organization} AND q.name IN (${allowanceNames.map((name) => `'${name}'`).join(", ")})) AS allowance`)

export interface NamedOrganization {
  readonly id: OrganizationId
  readonly name: string
  readonly createdAt: Date
}

export const organizations = (sql: Sql, after: number, limit: number) =>
  sql<NamedOrganization>`SELECT id, name, created_at FROM organizations WHERE id > ${after}::int ORDER BY id LIMIT ${limit}::int`

export const organization = (sql: Sql, id: OrganizationId) =>
  sql<NamedOrganization>`SELECT id, name, created_at FROM organizations WHERE id = ${id}::int`.pipe(Effect.map((rows) => rows[0]))

/** Counts live attempts; it reads few rows, because no attempt stays live for long. */
export const callsUp = (sql: Sql, ids: ReadonlyArray<OrganizationId>) =>
  sql<{ readonly organizationId: OrganizationId; readonly calls: number }>`
    SELECT organization_id, count(*)::int AS calls FROM attempts
    WHERE state IN ('intent', 'sent', 'answered') AND organization_id = ANY(${ids}::int[]) GROUP BY organization_id`

/** Until the transaction ends, nobody else can set this organization's quotas. Returns false if there is no such organization. */
export const lock = (sql: Sql, id: OrganizationId) =>
  sql`SELECT id FROM organizations WHERE id = ${id}::int FOR NO KEY UPDATE`.pipe(Effect.map((rows) => rows.length > 0))

type Side = "allowed" | "own"
/** Undefined values stay unchanged. */
export type Changes = { readonly [Name in QuotaName]?: number | null | undefined }

export const set = (sql: Sql, id: OrganizationId, side: Side, changes: Changes) => {
  const rows = JSON.stringify(Object.entries(changes).flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }])))
  return sql`
    INSERT INTO quotas AS q (organization_id, name, ${sql.literal(side)})
    SELECT ${id}::int, name, value FROM jsonb_to_recordset(${rows}::text::jsonb) AS given (name text, value bigint)
    ON CONFLICT (organization_id, name) DO UPDATE SET ${sql.literal(`${side} = excluded.${side}`)}`
}

/** Sets the limit that campaigns and calls read. Live calls continue. */
export const setCalls = (sql: Sql, id: OrganizationId, limit: number) => sql`
  UPDATE organizations SET concurrency_limit = ${limit}::int WHERE id = ${id}::int AND concurrency_limit <> ${limit}::int`

/** Fails early if there is no room at all, or not for as much as is wanted; `within` decides once it is there. */
export const hasRoom = Effect.fnUntraced(function* (sql: Sql, id: OrganizationId, name: QuotaName, wanted = 1) {
  const { limit, used } = yield* useOf(sql, id, name)
  if (used + wanted > limit) return yield* new QuotaFull({ quota: name, limit, used, wanted })
})

/**
 * Call it after the insert, in the same transaction, with the amount that was added: the insert has locked the count, so that the second of two
 * concurrent transactions sees the first. On failure the transaction rolls back.
 */
export const within = Effect.fnUntraced(function* (sql: Sql, id: OrganizationId, name: QuotaName, wanted: number) {
  const { limit, used } = yield* useOf(sql, id, name)
  if (used > limit) return yield* new QuotaFull({ quota: name, limit, used: used - wanted, wanted })
})

/** The limit of a quota whose use is counted elsewhere. */
export const limitOf = (sql: Sql, id: OrganizationId, name: QuotaName) => Effect.map(useOf(sql, id, name), ({ limit }) => limit)

const useOf = (sql: Sql, id: OrganizationId, name: QuotaName) =>
  sql<SetLimits & { readonly used: number }>`
    SELECT allowed, own, used FROM quotas WHERE organization_id = ${id}::int AND name = ${name}`.pipe(
    Effect.map(([row]) => ({ limit: quotaOf(name, row).limit, used: row?.used ?? 0 }))
  )
