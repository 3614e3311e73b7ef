import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { completionEntry, intoCampaignLog, logEntry, shownEntries } from "#core/CampaignLog.ts"
import type { CampaignId, OrganizationId, RunId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import type { OptOut, OptOutId, OptOutSelection, OptOutSource } from "./OptOut.ts"

type Sql = SqlClient.SqlClient

/** How many due retries, and how many fresh contacts, are examined at once. */
const REACH = 200
/** How many of the lines the campaign's log names. */
const LOGGED_ROWS = 100

const optOutOf = (row: Row<OptOut>): OptOut => ({ ...row, runId: row.runId ?? undefined })

/**
 * Returns how many of the numbers are new. A trigger writes the event of each of them. Numbers are inserted in a fixed order, so that two such
 * statements cannot deadlock.
 */
export const add = (
  sql: Sql,
  organizationId: OrganizationId,
  phoneNumbers: ReadonlyArray<string>,
  said: { readonly source: OptOutSource; readonly runId: RunId | undefined }
) =>
  sql`
    INSERT INTO opt_outs (organization_id, phone_number, source, run_id)
    SELECT ${organizationId}::int, phone_number, ${said.source}, ${said.runId ?? null}::int
    FROM (SELECT DISTINCT phone_number FROM unnest(${[...phoneNumbers]}::text[]) AS given (phone_number) ORDER BY phone_number) AS numbers
    ON CONFLICT DO NOTHING RETURNING id`.pipe(Effect.map((rows) => rows.length))

export const list = (sql: Sql, organizationId: OrganizationId, { after, limit, phoneNumber }: OptOutSelection) =>
  sql<Row<OptOut>>`
    SELECT id, organization_id, phone_number, source, run_id, created_at FROM opt_outs
    WHERE ${sql.and([
      sql`organization_id = ${organizationId}`,
      ...(after === undefined ? [] : [sql`phone_number > ${after}`]),
      ...(phoneNumber === undefined ? [] : [sql`phone_number = ${phoneNumber}`])
    ])}
    ORDER BY phone_number LIMIT ${limit}::int`.pipe(Effect.map((rows) => rows.map(optOutOf)))

/** Returns the number; undefined if there is no such opt-out. */
export const remove = (sql: Sql, organizationId: OrganizationId, id: OptOutId) =>
  sql<{ readonly phoneNumber: string }>`
    DELETE FROM opt_outs WHERE organization_id = ${organizationId} AND id = ${id}::int RETURNING phone_number`.pipe(
    Effect.map((rows) => rows[0]?.phoneNumber)
  )

const stoppedEntry = (sql: Sql) =>
  logEntry(sql, {
    level: "info",
    event: "contacts_opted_out",
    message: sql.literal(
      "'Contacts are not dialed any more, because their numbers have opted out. The list in the details has all of them.'"
    ),
    details: sql.literal(`jsonb_build_object('contacts', failed + cancelled, 'rows', rows, 'latest_at', ${stoppedAt},
      'list', '/api/v1/campaign/' || c.id || '/contacts/download?stop_reason=opted_out')`)
  })
const stoppedAt = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/**
 * Ends the campaign's next contacts whose numbers have opted out: a contact that was never dialed is cancelled, a retry fails. As at the end of
 * a call, the campaign's row is locked before its contacts. Until the campaign's state changes, the log has one entry for all of them, which
 * counts as long as it is shown: one for each statement would leave no room for anything else where a campaign shows its newest entries.
 */
export const stopContacts = (
  sql: Sql,
  claim: { readonly campaignId: CampaignId; readonly ownerEpoch: number; readonly dialEpoch: number; readonly now: number }
) => sql`
    WITH owned AS MATERIALIZED (
      SELECT id, organization_id FROM campaigns WHERE id = ${claim.campaignId}::int AND state = 'running'
        AND owner_epoch = ${claim.ownerEpoch}::int AND dial_epoch = ${claim.dialEpoch}::int FOR NO KEY UPDATE
    ), due AS MATERIALIZED (
      SELECT row_no, phone_number FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'retry_wait' AND NOT awaits_number
        AND due_at <= to_timestamp(${claim.now}::float8 / 1000)
      ORDER BY due_at, row_no LIMIT ${REACH}::int FOR UPDATE SKIP LOCKED
    ), fresh AS MATERIALIZED (
      SELECT row_no, phone_number FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'pending' AND NOT awaits_number
      ORDER BY row_no LIMIT ${REACH}::int FOR UPDATE SKIP LOCKED
    ), stopped AS (
      UPDATE contacts SET state = CASE WHEN retries_used > 0 THEN 'failed' ELSE 'cancelled' END, stop_reason = 'opted_out',
        -- A retry that was not dialed is not counted as one.
        retries_used = greatest(retries_used - 1, 0), due_at = NULL
      WHERE campaign_id = (SELECT id FROM owned) AND row_no = ANY (ARRAY(
        SELECT row_no FROM (SELECT row_no, phone_number FROM due UNION ALL SELECT row_no, phone_number FROM fresh) AS next
        WHERE has_opted_out((SELECT organization_id FROM owned), phone_number)))
      RETURNING row_no, state
    ), counts AS MATERIALIZED (
      SELECT (count(*) FILTER (WHERE state = 'failed'))::int AS failed, (count(*) FILTER (WHERE state = 'cancelled'))::int AS cancelled,
        to_jsonb((array_agg(row_no ORDER BY row_no))[1:${sql.literal(String(LOGGED_ROWS))}]) AS rows
      FROM stopped
    ), counted AS (
      UPDATE campaigns c SET failed_rows = failed_rows + failed, cancelled_rows = cancelled_rows + cancelled,
        retries_queued = retries_queued - failed,
        state = CASE WHEN completed_rows + failed_rows + cancelled_rows + failed + cancelled = total_rows THEN 'completed' ELSE state END,
        completed_at = CASE WHEN completed_rows + failed_rows + cancelled_rows + failed + cancelled = total_rows
          THEN to_timestamp(${claim.now}::float8 / 1000) ELSE completed_at END
      FROM counts WHERE c.id = (SELECT id FROM owned) AND failed + cancelled > 0
      RETURNING c.organization_id, c.id, c.state, c.total_rows, c.completed_rows, c.failed_rows, c.cancelled_rows
    ), merged AS (
      UPDATE campaign_log l SET details = l.details || jsonb_build_object(
        'contacts', (l.details ->> 'contacts')::int + failed + cancelled, 'latest_at', ${sql.literal(stoppedAt)},
        'rows', jsonb_path_query_array(l.details -> 'rows' || rows, '$[0 to ${sql.literal(String(LOGGED_ROWS - 1))}]'))
      FROM counted c CROSS JOIN counts WHERE l.id = (
        SELECT CASE WHEN said > coalesce(moved, 0) THEN said END FROM (
          SELECT max(id) FILTER (WHERE event = 'contacts_opted_out') AS said, max(id) FILTER (WHERE starts_with(event, 'campaign_')) AS moved
          FROM (SELECT id, event FROM campaign_log WHERE campaign_id = c.id ORDER BY id DESC LIMIT ${shownEntries}::int) newest) latest)
      RETURNING l.id
    )
    ${intoCampaignLog(sql)}
    SELECT e.organization_id, e.campaign_id, e.level, e.event, e.message, e.details FROM (
      SELECT c.organization_id, c.id, 1, ${stoppedEntry(sql)} FROM counted c CROSS JOIN counts WHERE NOT EXISTS (SELECT 1 FROM merged)
      UNION ALL
      SELECT c.organization_id, c.id, 2, ${completionEntry(sql)} FROM counted c WHERE c.state = 'completed'
    ) AS e (organization_id, campaign_id, ordinal, level, event, message, details) ORDER BY e.ordinal`
