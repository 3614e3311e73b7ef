/**
 * How an attempt begins: a contact is claimed and its attempt written with its run, all in one statement; or a single call is asked for,
 * which is an attempt without a contact.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentDefinitionId, CallId, CampaignId, RunId, TelephonyConfigId } from "../Id.ts"
import type { NewAttempt } from "./Attempt.ts"
import { CallNotPlaced, type SingleCall } from "./Dialer.ts"
import { reservedNames } from "./ReservedNames.ts"

export interface Claim {
  readonly campaignId: CampaignId
  readonly ownerEpoch: number
  readonly dialEpoch: number
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly provider: string
  readonly node: string
  /** The local journal of the process that claims, and that alone may send. */
  readonly journal: string
  /** One for each contact that may be claimed. */
  readonly callIds: ReadonlyArray<CallId>
  /** The first so many of them leave at once: their attempts are claimed and marked `sent` in one. */
  readonly leaving: number
  /** Epoch milliseconds: retries due by then are claimed, oldest first, before fresh contacts in file order. */
  readonly now: number
}
export interface Claimed {
  /** False: the campaign is not running, or not ours, or its permits were withdrawn. */
  readonly owned: boolean
  readonly attempts: ReadonlyArray<Omit<NewAttempt, "campaign"> & { readonly rowNo: number; readonly retriesUsed: number }>
  /** When the next retry falls due that is not due yet; epoch milliseconds. */
  readonly nextDueAt: number | undefined
}

type Sql = SqlClient.SqlClient

// A claim in `intent` need not be on disk by itself: the mark `sent` that follows is, and with it all that was written before. So it does
// not wait for the disk, and neither does the answer's: without it, the attempt is found as `sent`, and the provider is asked.
// The chosen contacts go into an array, not into a join: of a join with an unknown LIMIT the planner expects a tenth of the campaign, and
// reads all of it.
export const claimContacts = Effect.fnUntraced(function* (sql: Sql, claim: Claim) {
  const wanted = claim.callIds.length
  const [row] = yield* sql<{ readonly owned: boolean; readonly attempts: Claimed["attempts"]; readonly nextDueAt: number | null }>`
    WITH owned AS MATERIALIZED (
      SELECT id, organization_id, agent_id, dial_epoch, breaker_epoch FROM campaigns
      WHERE id = ${claim.campaignId}::int AND state = 'running'
        AND owner_epoch = ${claim.ownerEpoch}::int AND dial_epoch = ${claim.dialEpoch}::int
    ), waiting AS MATERIALIZED (
      SELECT row_no, due_at FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'retry_wait' AND due_at <= to_timestamp(${claim.now}::float8 / 1000)
      ORDER BY due_at, row_no LIMIT ${wanted}::int FOR UPDATE SKIP LOCKED
    ), fresh AS MATERIALIZED (
      SELECT row_no FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'pending'
      ORDER BY row_no LIMIT ${wanted}::int - (SELECT count(*) FROM waiting) FOR UPDATE SKIP LOCKED
    ), chosen AS MATERIALIZED (
      SELECT array_agg(row_no ORDER BY due_at NULLS LAST, row_no) AS row_nos
      FROM (SELECT row_no, due_at FROM waiting UNION ALL SELECT row_no, NULL FROM fresh) AS ready
    ), dialing AS (
      UPDATE contacts SET state = 'dialing'
      WHERE campaign_id = (SELECT id FROM owned) AND row_no = ANY ((SELECT row_nos FROM chosen)::int[])
      RETURNING row_no, phone_number, context, retries_used, retry_reason,
        (${claim.callIds}::uuid[])[array_position((SELECT row_nos FROM chosen), row_no)] AS call_id
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, journal,
        dial_epoch, breaker_epoch, state, sent_at)
      SELECT call_id, owned.organization_id, owned.id, row_no, retries_used + 1, ${claim.telephonyConfigurationId}::int, ${claim.node},
        ${claim.journal}::uuid, owned.dial_epoch, owned.breaker_epoch,
        CASE WHEN leaves THEN 'sent' ELSE 'intent' END, CASE WHEN leaves THEN to_timestamp(${claim.now}::float8 / 1000) END
      FROM dialing CROSS JOIN owned
        CROSS JOIN LATERAL (SELECT array_position(${claim.callIds}::uuid[], call_id) <= ${claim.leaving}::int AS leaves) AS place
    ), recorded AS (
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context, gathered_context)
      SELECT owned.organization_id, owned.agent_id, agents.current_definition_id, owned.id, call_id,
        'WR-CAMPAIGN-' || owned.id || '-' || row_no, ${claim.provider}::text,
        jsonb_build_object(
          'phone_number', phone_number, 'direction', 'outbound', 'campaign_id', owned.id,
          'telephony_configuration_id', ${claim.telephonyConfigurationId}::int,
          'source_uuid', 'csv_' || owned.id || '_row_' || row_no || CASE WHEN retries_used > 0 THEN '_retry_' || retries_used ELSE '' END)
        || CASE WHEN retries_used = 0 THEN '{}'::jsonb
           ELSE jsonb_build_object('is_retry', true, 'retry_attempt', retries_used, 'retry_reason', retry_reason) END
        || (context - ${reservedNames}::text[])
        || jsonb_build_object('called_number', phone_number, 'provider', ${claim.provider}::text),
        CASE WHEN retries_used = 0 THEN NULL
             ELSE jsonb_build_object('call_tags', jsonb_build_array('retry', 'retry_reason_' || retry_reason)) END
      FROM dialing CROSS JOIN owned JOIN agents ON agents.id = owned.agent_id
      RETURNING id, agent_definition_id, attempt_id, initial_context
    ), counted AS (
      INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count)
      SELECT owned.id, count(*) FILTER (WHERE retries_used = 0), count(*) FROM owned CROSS JOIN dialing GROUP BY owned.id
      ON CONFLICT (campaign_id) DO UPDATE SET processed_rows = campaign_dials.processed_rows + excluded.processed_rows,
        executed_count = campaign_dials.executed_count + excluded.executed_count
    )
    SELECT EXISTS (SELECT 1 FROM owned) AS owned,
      set_config('synchronous_commit', CASE WHEN ${claim.leaving}::int > 0 THEN current_setting('synchronous_commit') ELSE 'off' END, true),
      (SELECT extract(epoch FROM min(due_at))::float8 * 1000 FROM contacts
        WHERE campaign_id = (SELECT id FROM owned) AND state = 'retry_wait' AND due_at > to_timestamp(${claim.now}::float8 / 1000)) AS next_due_at,
      coalesce((SELECT jsonb_agg(jsonb_build_object(
          'callId', dialing.call_id, 'organizationId', owned.organization_id, 'runId', recorded.id, 'agentId', owned.agent_id,
          'agentDefinitionId', recorded.agent_definition_id, 'telephonyConfigurationId', ${claim.telephonyConfigurationId}::int,
          'phoneNumber', dialing.phone_number, 'initialContext', recorded.initial_context,
          'rowNo', dialing.row_no, 'retriesUsed', dialing.retries_used) ORDER BY array_position(${claim.callIds}::uuid[], dialing.call_id))
        FROM dialing JOIN recorded ON recorded.attempt_id = dialing.call_id CROSS JOIN owned), '[]') AS attempts`
  return { owned: row?.owned ?? false, attempts: row?.attempts ?? [], nextDueAt: row?.nextDueAt ?? undefined }
})

/** By the end of the id: how it begins is the time, and the same for calls of the same minute. */
export const runName = (callId: CallId): string => `WR-API-${callId.slice(-12)}`

/** What the agent's own variables and the caller may say otherwise. */
const knownOf = ({ from, phoneNumber, telephonyConfigurationId }: SingleCall) => ({
  phone_number: phoneNumber,
  direction: "outbound",
  telephony_configuration_id: telephonyConfigurationId,
  ...(from === undefined ? {} : { caller_number: from })
})

export const beginSingle = Effect.fnUntraced(function* (
  sql: Sql,
  call: SingleCall,
  as: { readonly callId: CallId; readonly provider: string; readonly node: string; readonly journal: string }
) {
  const [row] = yield* sql<{
    readonly runId: RunId
    readonly agentDefinitionId: AgentDefinitionId
    readonly initialContext: Record<string, unknown>
  }>`
    WITH used AS MATERIALIZED (
      SELECT id FROM telephony_configurations
      WHERE organization_id = ${call.organizationId}::int AND id = ${call.telephonyConfigurationId}::int FOR KEY SHARE
    ), version AS (
      SELECT d.id, CASE WHEN ${call.isTest}::bool THEN d.template_context_variables ELSE '{}' END AS variables
      FROM used CROSS JOIN agents a JOIN agent_definitions d ON d.agent_id = a.id
      WHERE a.id = ${call.agentId}::int AND a.organization_id = ${call.organizationId}::int AND d.id = ${call.definitionId}::int
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, journal)
      SELECT ${as.callId}::uuid, ${call.organizationId}::int, ${call.telephonyConfigurationId}::int, ${as.node}, ${as.journal}::uuid FROM version
    )
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context)
    SELECT ${call.organizationId}::int, ${call.agentId}::int, version.id, ${as.callId}::uuid, ${runName(as.callId)}, ${as.provider}::text,
      ${JSON.stringify(knownOf(call))}::text::jsonb || (variables || ${JSON.stringify(call.initialContext)}::text::jsonb) - ${reservedNames}::text[]
        || jsonb_build_object('called_number', ${call.phoneNumber}::text, 'provider', ${as.provider}::text)
    FROM version
    RETURNING id AS run_id, agent_definition_id, initial_context`
  if (row === undefined) return yield* new CallNotPlaced({ reason: "Its agent or telephony configuration is gone." })
  return { ...call, ...row, callId: as.callId, campaign: undefined }
})
