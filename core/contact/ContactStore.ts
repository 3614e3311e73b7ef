import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import type { JsonObject } from "#core/Json.ts"
import type { AgentId, CampaignId, OrganizationId, RunId } from "#core/Id.ts"
import type { Row } from "#core/Row.ts"
import type { ContactRow } from "./ContactCsv.ts"
import type { Contact, ContactSelection, ContactState } from "./Contact.ts"

/** What a call knows of its contact. The contact's own greeting is a part of it, where the API shows it. */
export const storedContext = ({ context, greetingOverride }: ContactRow): JsonObject => {
  if (greetingOverride === undefined) return context
  const greeting = greetingOverride.type === "text" ? greetingOverride : { type: "audio", recording_id: greetingOverride.recordingId }
  return { ...context, greeting_override: greeting }
}

/** Passes arrays instead of parameters per row, so that the statement is the same for any number of contacts. */
export const insert = (
  sql: SqlClient.SqlClient,
  campaign: { readonly organizationId: OrganizationId; readonly id: CampaignId },
  contacts: ReadonlyArray<ContactRow>
) => sql`
  INSERT INTO contacts (campaign_id, organization_id, row_no, phone_number, context)
  SELECT ${campaign.id}::int, ${campaign.organizationId}::int, c.row_no, c.phone_number, c.context::jsonb
  FROM unnest(${contacts.map(({ rowNumber }) => rowNumber)}::int[], ${contacts.map(({ phoneNumber }) => phoneNumber)}::text[],
    ${contacts.map((contact) => JSON.stringify(storedContext(contact)))}::text[]) AS c (row_no, phone_number, context)`

interface ListedRow extends Row<Omit<Contact, "run">> {
  readonly runId: RunId | null
  readonly agentId: AgentId | null
}

const contactOf = ({ agentId, runId, ...row }: ListedRow): Contact => ({
  ...row,
  lastOutcome: row.lastOutcome ?? undefined,
  stopReason: row.stopReason ?? undefined,
  dueAt: row.dueAt ?? undefined,
  reached: row.reached ?? undefined,
  run: runId === null || agentId === null ? undefined : { id: runId, agentId }
})

/** A contact's state as clients see it; `newest` is its newest attempt. */
const shownState = (sql: SqlClient.SqlClient) =>
  sql.literal("CASE WHEN c.state = 'dialing' AND newest.attempt_state = 'answered' THEN 'in_call' ELSE c.state END")

/** Contacts with live calls are found through these calls, which are few, however many contacts there are. */
const isShownAs = (sql: SqlClient.SqlClient, id: CampaignId, state: ContactState) =>
  state === "dialing" || state === "in_call"
    ? sql`c.state IN ('dialing', 'in_call') AND c.row_no = ANY (ARRAY(
        SELECT row_no FROM attempts WHERE campaign_id = ${id} AND state IN ('intent', 'sent', 'answered')
          AND (state = 'answered') = ${state === "in_call"}::bool))`
    : sql`c.state = ${state}`

/** Undefined if the organization has no such campaign. */
export const list = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  { after, limit, number, outcome, reached, state, stopReason }: ContactSelection
) {
  const found = yield* sql`SELECT 1 FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id}`
  if (found.length === 0) return undefined
  const chosen = sql.and([
    sql`c.organization_id = ${organizationId} AND c.campaign_id = ${id}`,
    ...(after === undefined ? [] : [sql`c.row_no > ${after}::int`]),
    ...(state === undefined ? [] : [isShownAs(sql, id, state)]),
    // Written as in the index, so that the index is used.
    ...(outcome === undefined ? [] : [outcome === "unknown" ? sql`c.last_outcome = 'unknown'` : sql`c.last_outcome = ${outcome}`]),
    // Reads on through the list until the page is full: it has a hundred thousand contacts at most.
    ...(number === undefined ? [] : [sql`strpos(c.phone_number, ${number}) > 0`]),
    ...(stopReason === undefined ? [] : [sql`c.stop_reason = 'opted_out'`]),
    ...(reached === undefined ? [] : [sql`c.reached IS NOT DISTINCT FROM ${reached}::bool`])
  ])
  const rows = yield* sql<ListedRow>`
    SELECT c.row_no, c.phone_number, ${shownState(sql)} AS state, c.retries_used, c.last_outcome, c.stop_reason, c.due_at, c.awaits_number, c.reached,
      newest.run_id, newest.agent_id
    FROM contacts c LEFT JOIN LATERAL (
      SELECT r.id AS run_id, r.agent_id, a.state AS attempt_state FROM attempts a JOIN runs r ON r.attempt_id = a.id
      WHERE a.campaign_id = c.campaign_id AND a.row_no = c.row_no ORDER BY a.number DESC, a.created_at DESC LIMIT 1
    ) newest ON true
    WHERE ${chosen} ORDER BY c.row_no LIMIT ${limit}::int`
  return rows.map(contactOf)
})

/** How many of the lines the log names. */
const loggedRows = 100
const markedEntry = (reached: boolean, rows: ReadonlyArray<number>) =>
  ({
    level: "info",
    event: "contacts_marked",
    message: reached ? "Contacts were marked as reached." : "Contacts were marked as not reached.",
    details: { reached, contacts: rows.length, rows: rows.slice(0, loggedRows) }
  }) as const

/**
 * Returns the `rows` that can be marked; unless these are all, nothing was changed. Undefined if the organization has no such campaign. The
 * campaign's row is locked before its contacts, as at the end of a call.
 */
export const mark = (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  id: CampaignId,
  rows: ReadonlyArray<number>,
  reached: boolean
) =>
  sql<{ readonly found: boolean; readonly unknown: ReadonlyArray<number> }>`
    WITH owned AS MATERIALIZED (
      SELECT id, organization_id FROM campaigns WHERE organization_id = ${organizationId} AND id = ${id} FOR NO KEY UPDATE
    ), unknown AS MATERIALIZED (
      SELECT row_no, state FROM contacts WHERE campaign_id = (SELECT id FROM owned) AND row_no = ANY(${rows}::int[])
        AND last_outcome = 'unknown' AND state IN ('completed', 'failed') ORDER BY row_no FOR UPDATE
    ), marked AS (
      UPDATE contacts c SET reached = ${reached}::bool, state = CASE WHEN ${reached}::bool THEN 'completed' ELSE 'failed' END FROM unknown
      WHERE c.campaign_id = (SELECT id FROM owned) AND c.row_no = unknown.row_no
        AND (SELECT count(*) FROM unknown) = cardinality(${rows}::int[])
      RETURNING unknown.state AS before, c.state AS after
    ), counted AS (
      UPDATE campaigns SET completed_rows = completed_rows + n, failed_rows = failed_rows - n, resume_tries = NULL, updated_at = now() FROM (
        SELECT (count(*) FILTER (WHERE after = 'completed') - count(*) FILTER (WHERE before = 'completed'))::int AS n FROM marked
      ) AS changed WHERE id = (SELECT id FROM owned) AND (n <> 0 OR resume_tries IS NOT NULL AND EXISTS (SELECT FROM marked))
    ), logged AS (
      ${intoCampaignLog(sql)}
      SELECT organization_id, id, ${logEntry(sql, markedEntry(reached, rows))}
      FROM owned WHERE EXISTS (SELECT 1 FROM marked)
    )
    SELECT EXISTS (SELECT 1 FROM owned) AS found, coalesce((SELECT array_agg(row_no) FROM unknown), '{}') AS unknown`.pipe(
    Effect.map(([row]) => (row?.found === true ? row.unknown : undefined))
  )
