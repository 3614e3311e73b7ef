/**
 * The number that an attempt calls is the attempt's alone: no other call of the organization is placed to it. The attempt holds the number
 * from the statement that writes it to the one that ends it. One that was written off goes on holding it, because its call could still
 * appear: whoever learns that it cannot releases the number, at the latest `longestDoubtMillis` after the request.
 *
 * Contacts that wait for a number are no candidates for claims. They become candidates again in the statement that releases the number.
 */
import { Context, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { CallId, CampaignId } from "../Id.ts"

type Sql = SqlClient.SqlClient

export const longestDoubtMillis = 600_000

/** The number is in another call of the organization, or may be. */
export class NumberInCall extends Schema.TaggedError<NumberInCall>()("NumberInCall", {}) {}

/** Wakes the campaigns that wait for a number that has just become free. */
export const WakeWaiting = Context.Reference<(campaigns: ReadonlyArray<CampaignId>) => void>("core/call/NumberHold/WakeWaiting", {
  defaultValue: () => () => {}
})

/**
 * Parts of a statement whose part `over` has just changed attempts, and returns `phone_number`, `holds_number` and `awaited_by` of each:
 * has the contacts wait no longer whose number is free by that. They are found by what never changes of them, because a claim may have made
 * them wait after this statement began; in an order, so that two such statements never wait for each other.
 */
export const freeing = (sql: Sql, over: string) => sql`
    freed AS MATERIALIZED (
      SELECT c.campaign_id, c.row_no FROM ${sql(over)} AS o CROSS JOIN LATERAL unnest(o.awaited_by) AS waiter (campaign_id)
      JOIN contacts c ON c.campaign_id = waiter.campaign_id AND c.phone_number = o.phone_number
      WHERE NOT o.holds_number ORDER BY c.campaign_id, c.row_no FOR NO KEY UPDATE OF c
    ), resumed AS (
      UPDATE contacts SET awaits_number = false FROM freed WHERE contacts.campaign_id = freed.campaign_id AND contacts.row_no = freed.row_no
    )`

/**
 * For the list of columns, as `freed`: the campaigns that wait for what `over` has released. Where `over` changed nothing because the call
 * `callId` was over already, they are those that wait for that one: whoever released it may not have lived to wake them.
 */
export const freedBy = (sql: Sql, over: string, callId?: CallId) =>
  sql`(SELECT coalesce(jsonb_agg(DISTINCT waiter), '[]') FROM (
        SELECT holds_number, awaited_by FROM ${sql(over)}
        UNION ALL
        SELECT holds_number, awaited_by FROM attempts
        WHERE id = ${callId ?? null}::uuid AND state IN ('ended', 'void') AND NOT EXISTS (SELECT FROM ${sql(over)})
      ) AS o CROSS JOIN LATERAL unnest(o.awaited_by) AS waiter WHERE NOT o.holds_number) AS freed`

interface Released {
  readonly count: number
  readonly freed: ReadonlyArray<CampaignId>
}

const released = (rows: ReadonlyArray<Released>): Released => rows[0] ?? { count: 0, freed: [] }

/** Of an attempt that was written off. */
export const release = (sql: Sql, callId: CallId) =>
  sql<Released>`
    WITH over AS (
      UPDATE attempts SET holds_number = false WHERE id = ${callId}::uuid AND holds_number AND state IN ('ended', 'void')
      RETURNING phone_number, holds_number, awaited_by
    ), ${freeing(sql, "over")}
    SELECT (SELECT count(*) FROM over)::int AS count, ${freedBy(sql, "over")}`.pipe(Effect.map(released))

/** Attempts that are over and still hold their numbers, although the request left so long ago that no call of theirs can appear. */
export const outlived = (sql: Sql) =>
  sql<{ readonly id: CallId }>`
    SELECT id FROM attempts WHERE holds_number AND state IN ('ended', 'void')
      AND coalesce(sent_at, created_at) < now() - ${longestDoubtMillis}::float8 * interval '1 millisecond'
    ORDER BY id LIMIT 1000`.pipe(Effect.map((rows) => rows.map(({ id }) => id)))

/** Contacts that wait for numbers that nobody holds. There are none, unless somebody changed rows by hand. */
export const resumeForgotten = (sql: Sql) =>
  sql<Released>`
    WITH forgotten AS MATERIALIZED (
      SELECT c.campaign_id, c.row_no FROM contacts c
      WHERE c.awaits_number AND NOT EXISTS (SELECT FROM attempts a WHERE a.organization_id = c.organization_id
        AND a.phone_number = c.phone_number AND a.holds_number)
      ORDER BY c.campaign_id, c.row_no LIMIT 1000 FOR UPDATE SKIP LOCKED
    ), resumed AS (
      UPDATE contacts SET awaits_number = false FROM forgotten
      WHERE contacts.campaign_id = forgotten.campaign_id AND contacts.row_no = forgotten.row_no
    )
    SELECT count(*)::int AS count, coalesce(jsonb_agg(DISTINCT campaign_id), '[]') AS freed FROM forgotten`.pipe(Effect.map(released))
