/**
 * While an attempt calls a number, no other call of the organization is placed to it. The attempt holds the number from the statement that
 * writes it to the one that ends it. An attempt that was written off keeps its hold, because its call may still appear; the number is released
 * once that is ruled out, `longestDoubtMillis` after the request at the latest.
 *
 * A contact that waits for a number cannot be claimed. The statement that releases the number makes it claimable again.
 */
import { Context, Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import type { CallId, CampaignId } from "#core/Id.ts"

type Sql = SqlClient.SqlClient

const longestDoubtMillis = 600_000

/** The number is in another call of the organization, or may be. */
export class NumberInCall extends Schema.TaggedError<NumberInCall>()("NumberInCall", {}) {}

/** Wakes the campaigns that wait for a number that has just become free. */
export const WakeWaiting = Context.Reference<(campaigns: ReadonlyArray<CampaignId>) => void>("core/call/WakeWaiting", {
  defaultValue: () => () => {}
})

/**
 * CTEs for a statement whose CTE `over` has just changed attempts and returns `phone_number`, `holds_number` and `awaited_by` of each.
 * Contacts that wait for a number that `over` has released stop waiting. They are found by columns that never change, because a claim may
 * have parked them after this statement began, and locked in a fixed order, so that two such statements cannot deadlock.
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
 * The column `freed`: the campaigns that wait for the numbers that `over` has released, or that were held by attempts that had ended before this
 * statement, because the process that ended them may have died before it woke the campaigns. `former` has their `holds_number` and `awaited_by`.
 */
export const freedBy = (sql: Sql, over: string, former: Statement.Fragment) =>
  sql`(SELECT coalesce(jsonb_agg(DISTINCT waiter), '[]')
      FROM (SELECT holds_number, awaited_by FROM ${sql(over)} UNION ALL ${former}) AS o CROSS JOIN LATERAL unnest(o.awaited_by) AS waiter
      WHERE NOT o.holds_number) AS freed`

interface Released {
  readonly count: number
  readonly freed: ReadonlyArray<CampaignId>
}

const released = (rows: ReadonlyArray<Released>): Released => rows[0] ?? { count: 0, freed: [] }

/** Releases the number of an attempt that was written off. */
export const release = (sql: Sql, callId: CallId) =>
  sql<Released>`
    WITH over AS (
      UPDATE attempts SET holds_number = false WHERE id = ${callId}::uuid AND holds_number AND state IN ('ended', 'void')
      RETURNING phone_number, holds_number, awaited_by
    ), ${freeing(sql, "over")}
    SELECT (SELECT count(*) FROM over)::int AS count,
      (SELECT coalesce(jsonb_agg(DISTINCT waiter), '[]') FROM over CROSS JOIN LATERAL unnest(awaited_by) AS waiter) AS freed`.pipe(
    Effect.map(released)
  )

/** Attempts that are over and still hold their numbers, although their requests left so long ago that their calls can no longer appear. */
export const outlived = (sql: Sql) =>
  sql<{ readonly id: CallId }>`
    SELECT id FROM attempts WHERE holds_number AND state IN ('ended', 'void')
      AND coalesce(sent_at, created_at) < now() - ${longestDoubtMillis}::float8 * interval '1 millisecond'
    ORDER BY id LIMIT 1000`.pipe(Effect.map((rows) => rows.map(({ id }) => id)))

/** Resumes contacts that wait for numbers that no attempt holds. There are none unless somebody has edited rows by hand. */
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
