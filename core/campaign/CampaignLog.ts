/** The campaign's log: append-only, closed list of events, one entry for every automatic change of state. Never a phone number or secret. */
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
  "settings_updated",
  "schedule_window_closed",
  "schedule_window_opened",
  "waiting_for_capacity",
  "provider_rate_limited",
  "phone_number_pool_exhausted",
  "source_sync_completed",
  "source_sync_failed",
  "recovery_completed",
  "attempt_written_off",
  "greeting_missed",
  "contacts_marked",
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
