/**
 * The campaign's log: append-only, with a closed list of events and one entry for every automatic change of state. It never holds a phone number
 * or a secret. Every statement that writes to it is built from `intoCampaignLog` and `logEntry`. Only the count of contacts that have opted out
 * grows in its entry (`OptOutStore.ts`).
 */
import { type SqlClient, Statement } from "effect/sql"
import type { CampaignId } from "#core/Id.ts"
import { storableJson } from "#core/storable.ts"

export const campaignEvents = [
  "campaign_created",
  "campaign_started",
  "campaign_resumed",
  "campaign_paused",
  "campaign_completed",
  "campaign_failed",
  "circuit_breaker_tripped",
  "quota_exhausted",
  "telephony_configuration_unavailable",
  "telephony_auth_failed",
  "telephony_unreachable",
  "telephony_suspect",
  "telephony_recovered",
  "telephony_outage",
  "agent_archived",
  "agent_unfinished",
  "agent_cannot_hear",
  "settings_updated",
  "schedule_window_closed",
  "schedule_window_opened",
  "waiting_for_capacity",
  "provider_rate_limited",
  "phone_number_pool_exhausted",
  "source_sync_completed",
  "source_sync_failed",
  "recovery_completed",
  "database_restored",
  "database_failed_over",
  "attempt_written_off",
  "greeting_missed",
  "conversation_slow",
  "carrier_request_refused",
  "queued_calls_withdrawn",
  "contacts_marked",
  "contacts_opted_out",
  "contacts_refused",
  "redial_created"
] as const
export type CampaignEvent = (typeof campaignEvents)[number]

export interface CampaignLogEntry {
  /** ISO 8601, UTC, milliseconds, `Z`. */
  readonly ts: string
  readonly level: "info" | "warning" | "error"
  readonly event: CampaignEvent
  readonly message: string
  readonly details: Readonly<Record<string, unknown>> | null
}

/** How many of its newest entries a campaign shows. */
export const shownEntries = 100

/** An entry to be written. Fragments of SQL are computed by the statement; a message or details given as values are bound. */
interface NewLogEntry {
  readonly level: CampaignLogEntry["level"] | Statement.Fragment
  readonly event: CampaignEvent
  readonly message: string | Statement.Fragment
  readonly details?: Readonly<Record<string, unknown>> | Statement.Fragment | undefined
}

/** The beginning of a statement that writes to the log. A `SELECT` of organization, campaign and `logEntry` follows. */
export const intoCampaignLog = (sql: SqlClient.SqlClient) =>
  sql.literal("INSERT INTO campaign_log (organization_id, campaign_id, level, event, message, details)")

/** Four SQL expressions: level, event, message and details. */
export const logEntry = (sql: SqlClient.SqlClient, { details, event, level, message }: NewLogEntry) => {
  const json = details === undefined ? sql.literal("NULL::jsonb") : sql`${storableJson(details)}::text::jsonb`
  return sql`${Statement.isFragment(level) ? level : sql.literal(`'${level}'`)}, ${sql.literal(`'${event}'`)},
    ${Statement.isFragment(message) ? message : sql`${message}::text`}, ${Statement.isFragment(details) ? details : json}`
}

/** The four expressions of `logEntry` for a campaign `c` that completed. */
export const completionEntry = (sql: SqlClient.SqlClient) =>
  logEntry(sql, {
    level: "info",
    event: "campaign_completed",
    message: sql.literal("'Every contact is done.'"),
    details: sql.literal(`jsonb_build_object('total', c.total_rows, 'completed', c.completed_rows, 'failed', c.failed_rows,
      'cancelled', c.cancelled_rows, 'attempts', coalesce((SELECT executed_count FROM campaign_dials WHERE campaign_id = c.id), 0))`)
  })

export const createdEntry = (details?: { readonly parent_campaign_id: CampaignId }) =>
  ({ level: "info", event: "campaign_created", message: "Campaign created.", details }) as const

/** The entry for a contact list that was read. */
export const sourceEntry = (read: Readonly<Record<"accepted" | "rowsInFile" | "skipped" | "warnings", number>>) =>
  ({
    level: "info",
    event: "source_sync_completed",
    message: `${read.accepted} contacts accepted.`,
    details: { rows_in_file: read.rowsInFile, accepted: read.accepted, skipped: read.skipped, warnings: read.warnings }
  }) as const
