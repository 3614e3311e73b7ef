/**
 * How an attempt begins. For a campaign, one statement claims contacts and writes their attempts and runs. A single call is an attempt
 * without a contact.
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { NumberOptedOut } from "#core/contact/OptOut.ts"
import { stopContacts } from "#core/contact/OptOutStore.ts"
import type { AgentDefinitionId, CallId, CampaignId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { NewAttempt } from "./Attempt.ts"
import { CallUnsettled } from "./CallRequest.ts"
import type { ClaimStart, Look } from "./ClaimStarts.ts"
import { CallNotPlaced, type SingleCall } from "./Dialer.ts"
import { NumberInCall } from "./NumberHold.ts"
import { type InitialContext, reservedNames } from "#core/run/RunRecord.ts"

export interface Claim {
  readonly campaignId: CampaignId
  readonly ownerEpoch: number
  readonly dialEpoch: number
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly provider: string
  readonly node: string
  /** The local journal of the claiming process, the only one that may send the requests. */
  readonly journal: string
  /** The numbers that the calls show, in the order of `callIds`; null where there is none. */
  readonly callers: ReadonlyArray<string | null>
  /** A retry shows the number that its contact saw last instead, if it is one of these. `rooms`: how many more calls each number may carry. */
  readonly usable: { readonly numbers: ReadonlyArray<string>; readonly rooms: ReadonlyArray<number> }
  /** One for each contact that may be claimed. */
  readonly callIds: ReadonlyArray<CallId>
  /** Epoch milliseconds. Retries due by then are claimed first, oldest first, and then fresh contacts in file order. */
  readonly now: number
  /**
   * The database's timeline, as the engine knows it. On a different one, the last claims may be lost, so nothing is claimed. Undefined if the
   * server does not reveal it.
   */
  readonly timeline?: string | undefined
}
export interface Claimed {
  /** False: the campaign is not running, has another owner, or its permits were withdrawn. */
  readonly owned: boolean
  /** In the order of `callIds`. Any of these ids may be unused. */
  readonly attempts: ReadonlyArray<
    Omit<NewAttempt, "campaign"> & {
      readonly rowNo: number
      readonly retriesUsed: number
      readonly callerNumber: string | null
    }
  >
  /** There may be more contacts that can be claimed now. */
  readonly more: boolean
  /** When the first retry that is not due yet falls due; epoch milliseconds. */
  readonly nextDueAt: number | undefined
}

type Sql = SqlClient.SqlClient

interface ClaimRow extends Pick<Claimed, "attempts" | "owned"> {
  /** Chosen, but not dialed. */
  readonly lost: number
  readonly optedOut: number
  readonly nextDueAt: number | null
  /** The last fresh contact that was chosen. `lastDueAt`: when the last chosen retry fell due. */
  readonly lastRow: number | null
  readonly lastDueAt: number | null
}

/** How many due retries, and how many fresh contacts, are checked at once for numbers that are in a call. */
const REACH = 200

/** Tables that write the runs of `attempted`, whose contacts are in `dialing`, and count them; `owned` is their campaign. */
export const recording = (
  sql: Sql,
  { provider, telephonyConfigurationId }: Pick<Claim, "telephonyConfigurationId"> & { readonly provider: string | Statement.Fragment }
) => sql`
    recorded AS (
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, initial_context, gathered_context)
      SELECT owned.organization_id, owned.agent_id, agents.current_definition_id, owned.id, attempted.id,
        'WR-CAMPAIGN-' || owned.id || '-' || row_no, ${provider}::text,
        jsonb_build_object(
          'phone_number', phone_number, 'direction', 'outbound', 'campaign_id', owned.id,
          'telephony_configuration_id', ${telephonyConfigurationId}::int,
          'source_uuid', 'csv_' || owned.id || '_row_' || row_no || CASE WHEN retries_used > 0 THEN '_retry_' || retries_used ELSE '' END)
        || CASE WHEN retries_used = 0 THEN '{}'::jsonb
           ELSE jsonb_build_object('is_retry', true, 'retry_attempt', retries_used, 'retry_reason', retry_reason) END
        || jsonb_strip_nulls(jsonb_build_object('caller_number', caller_number)) || (context - ${reservedNames}::text[])
        || jsonb_build_object('called_number', phone_number, 'provider', ${provider}::text),
        CASE WHEN retries_used = 0 THEN NULL
             ELSE jsonb_build_object('call_tags', jsonb_build_array('retry', 'retry_reason_' || retry_reason)) END
      FROM dialing JOIN attempted USING (row_no) CROSS JOIN owned JOIN agents ON agents.id = owned.agent_id
      RETURNING id, agent_definition_id, attempt_id, initial_context
    ), counted AS (
      INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count)
      SELECT owned.id, count(*) FILTER (WHERE retries_used = 0), count(*) FROM owned CROSS JOIN dialing GROUP BY owned.id
      ON CONFLICT (campaign_id) DO UPDATE SET processed_rows = campaign_dials.processed_rows + excluded.processed_rows,
        executed_count = campaign_dials.executed_count + excluded.executed_count
    )`

// Claiming an attempt also marks it as `sent`, because its dial time was reserved before the claim.
// The chosen contacts go into an array, not into a join: for a join with an unknown LIMIT the planner expects a tenth of the campaign, and
// reads all of it.
//
// A contact whose number has opted out is not inserted either, and is ended afterwards.
//
// A contact's number is rarely in another call. The conflict shows when the attempt is inserted, and the contact is parked afterwards.
// Claims of several campaigns lock rows in the same order, so they cannot deadlock: first the contacts (only their own campaign's), then
// the numbers that they take, ordered by number, and last the campaign's counters.
//
// `look` says which part of the indexes the claim may skip.
export const claimContacts = Effect.fnUntraced(function* (sql: Sql, claim: Claim, look: Look) {
  const wanted = claim.callIds.length
  const [row] = yield* sql<ClaimRow>`
    WITH owned AS MATERIALIZED (
      SELECT id, organization_id, agent_id, dial_epoch, breaker_epoch FROM campaigns
      WHERE id = ${claim.campaignId}::int AND state = 'running'
        AND owner_epoch = ${claim.ownerEpoch}::int AND dial_epoch = ${claim.dialEpoch}::int
        AND CASE WHEN ${claim.timeline ?? null}::text IS NULL THEN true
          ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) = ${claim.timeline ?? null}::text END
    ), waiting AS MATERIALIZED (
      SELECT row_no, due_at, phone_number, retries_used FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'retry_wait' AND NOT awaits_number
        AND due_at >= to_timestamp(${look.start.dueAt}::float8 / 1000) AND due_at <= to_timestamp(${claim.now}::float8 / 1000)
      ORDER BY due_at, row_no LIMIT ${wanted}::int FOR UPDATE SKIP LOCKED
    ), fresh AS MATERIALIZED (
      SELECT row_no, phone_number, retries_used FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND state = 'pending' AND NOT awaits_number AND row_no > ${look.start.row}::int
      ORDER BY row_no LIMIT ${wanted}::int - (SELECT count(*) FROM waiting) FOR UPDATE SKIP LOCKED
    ), chosen AS MATERIALIZED (
      SELECT row_no, phone_number, retries_used, (row_number() OVER (ORDER BY due_at NULLS LAST, row_no))::int AS place
      FROM (SELECT row_no, phone_number, retries_used, due_at FROM waiting
        UNION ALL SELECT row_no, phone_number, retries_used, NULL FROM fresh) AS ready
    ), numbered AS MATERIALIZED (
      SELECT chosen.*, CASE WHEN row_number() OVER (PARTITION BY before.shown ORDER BY place)
          <= (${claim.usable.rooms}::int[])[array_position(${claim.usable.numbers}::text[], before.shown)]
        THEN before.shown ELSE nullif((${claim.callers.map((number) => number ?? "")}::text[])[place], '') END AS caller_number,
        has_opted_out((SELECT organization_id FROM owned), chosen.phone_number) AS is_out
      FROM chosen LEFT JOIN LATERAL (
        SELECT caller_number AS shown FROM attempts
        WHERE chosen.retries_used > 0 AND campaign_id = (SELECT id FROM owned) AND row_no = chosen.row_no AND state = 'ended'
        ORDER BY number DESC LIMIT 1
      ) AS before ON true
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, journal,
        dial_epoch, breaker_epoch, state, sent_at, phone_number, caller_number, holds_number)
      SELECT (${claim.callIds}::uuid[])[place], owned.organization_id, owned.id, row_no, retries_used + 1,
        ${claim.telephonyConfigurationId}::int, ${claim.node}, ${claim.journal}::uuid, owned.dial_epoch, owned.breaker_epoch,
        'sent', to_timestamp(${claim.now}::float8 / 1000), phone_number, caller_number, true
      FROM numbered CROSS JOIN owned WHERE NOT is_out ORDER BY phone_number
      -- The number is in another call of the organization.
      ON CONFLICT DO NOTHING
      RETURNING id, row_no, caller_number
    ), dialing AS (
      UPDATE contacts SET state = 'dialing'
      WHERE campaign_id = (SELECT id FROM owned) AND row_no = ANY (ARRAY(SELECT row_no FROM attempted))
      RETURNING row_no, phone_number, context, retries_used, retry_reason
    ), ${recording(sql, claim)}
    SELECT EXISTS (SELECT 1 FROM owned) AS owned,
      ((SELECT count(*) FROM chosen) - (SELECT count(*) FROM attempted))::int AS lost,
      (SELECT count(*) FROM numbered WHERE is_out)::int AS opted_out,
      (SELECT extract(epoch FROM min(due_at))::float8 * 1000 FROM contacts
        WHERE campaign_id = (SELECT id FROM owned) AND state = 'retry_wait' AND NOT awaits_number
          AND due_at > to_timestamp(${claim.now}::float8 / 1000)) AS next_due_at,
      (SELECT max(row_no) FROM fresh) AS last_row, (SELECT extract(epoch FROM max(due_at))::float8 * 1000 FROM waiting) AS last_due_at,
      coalesce((SELECT jsonb_agg(jsonb_build_object(
          'callId', attempted.id, 'organizationId', owned.organization_id, 'runId', recorded.id, 'agentId', owned.agent_id,
          'agentDefinitionId', recorded.agent_definition_id, 'telephonyConfigurationId', ${claim.telephonyConfigurationId}::int,
          'phoneNumber', dialing.phone_number, 'initialContext', recorded.initial_context,
          'callerNumber', attempted.caller_number,
          'rowNo', dialing.row_no, 'retriesUsed', dialing.retries_used) ORDER BY array_position(${claim.callIds}::uuid[], attempted.id))
        FROM dialing JOIN attempted USING (row_no) JOIN recorded ON recorded.attempt_id = attempted.id CROSS JOIN owned), '[]') AS attempts`
  const { attempts, lost, nextDueAt, optedOut, owned } = row ?? noRow
  if (optedOut > 0) yield* stopContacts(sql, claim)
  if (lost > optedOut) yield* parkBlocked(sql, claim)
  const isShort = attempts.length + lost < wanted
  if (isShort) look.over()
  else if (lost === 0) look.reached(reachedBy(claim, row ?? noRow))
  // There may be others behind the contacts that were skipped, and numbers that were in calls may be free by now. A claim that found too few
  // contacts may have started behind some.
  const more = attempts.length === wanted || lost > 0 || (owned && isShort && !look.isFromBeginning)
  return { owned, attempts, more, nextDueAt: nextDueAt ?? undefined }
})
const noRow: ClaimRow = { attempts: [], lastDueAt: null, lastRow: null, lost: 0, nextDueAt: null, optedOut: 0, owned: false }

// Fresh contacts are only claimed once no retry is due. Otherwise, some of several retries that were due at the same moment may be left: start a
// millisecond earlier, because the database's times are finer than milliseconds.
const reachedBy = ({ now }: Claim, { lastDueAt, lastRow }: ClaimRow): Partial<ClaimStart> => {
  if (lastRow !== null) return { dueAt: now, row: lastRow }
  return lastDueAt === null ? {} : { dueAt: lastDueAt - 1 }
}

// Marks both the contacts and the attempts that hold their numbers, so that the end of such an attempt finds the campaigns that wait for it.
// The attempt's row is locked while the contacts are marked: its end comes either before, and then they do not wait, or after, and then it
// sees them. The locks are taken in the same order as in a claim.
const parkBlocked = (sql: Sql, { campaignId, now }: Claim) => sql`
    WITH due AS MATERIALIZED (
      SELECT phone_number FROM contacts
      WHERE campaign_id = ${campaignId}::int AND state = 'retry_wait' AND NOT awaits_number AND due_at <= to_timestamp(${now}::float8 / 1000)
      ORDER BY due_at, row_no LIMIT ${REACH}::int FOR UPDATE SKIP LOCKED
    ), fresh AS MATERIALIZED (
      SELECT phone_number FROM contacts
      WHERE campaign_id = ${campaignId}::int AND state = 'pending' AND NOT awaits_number
      ORDER BY row_no LIMIT ${REACH}::int FOR UPDATE SKIP LOCKED
    ), held AS MATERIALIZED (
      SELECT id, phone_number FROM attempts
      WHERE organization_id = (SELECT organization_id FROM campaigns WHERE id = ${campaignId}::int) AND holds_number
        AND phone_number = ANY (ARRAY(SELECT phone_number FROM due UNION ALL SELECT phone_number FROM fresh))
      ORDER BY phone_number FOR UPDATE
    ), awaited AS (
      UPDATE attempts SET awaited_by = array_append(awaited_by, ${campaignId}::int) WHERE id = ANY (ARRAY(SELECT id FROM held))
    )
    UPDATE contacts SET awaits_number = true
    WHERE campaign_id = ${campaignId}::int AND phone_number = ANY (ARRAY(SELECT phone_number FROM held))`

/** Uses the end of the id: the beginning is a timestamp, which calls of the same minute share. */
export const runName = (callId: CallId): string => `WR-API-${callId.slice(-12)}`

/** Defaults, which the agent's template variables and the request's context override unless the names are reserved. */
export const knownOf = ({
  from,
  phoneNumber,
  telephonyConfigurationId
}: Pick<SingleCall, "from" | "phoneNumber" | "telephonyConfigurationId">): InitialContext => ({
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
    readonly found: boolean
    readonly isKnown: boolean
    readonly isOut: boolean
    readonly begun: {
      readonly runId: RunId
      readonly agentDefinitionId: AgentDefinitionId
      readonly initialContext: Record<string, unknown>
    } | null
  }>`
    WITH used AS MATERIALIZED (
      SELECT id FROM telephony_configurations
      WHERE organization_id = ${call.organizationId}::int AND id = ${call.telephonyConfigurationId}::int FOR KEY SHARE
    ), refused AS MATERIALIZED (
      SELECT has_opted_out(${call.organizationId}::int, ${call.phoneNumber}::text) AS is_out
    ), version AS (
      SELECT d.id, CASE WHEN ${call.isTest}::bool THEN d.template_context_variables ELSE '{}' END AS variables
      FROM used CROSS JOIN agents a JOIN agent_definitions d ON d.agent_id = a.id
      WHERE a.id = ${call.agentId}::int AND a.organization_id = ${call.organizationId}::int AND d.id = ${call.definitionId}::int
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, journal, phone_number, caller_number, holds_number)
      SELECT ${as.callId}::uuid, ${call.organizationId}::int, ${call.telephonyConfigurationId}::int, ${as.node}, ${as.journal}::uuid, ${call.phoneNumber}::text,
        ${call.from ?? null}::text, true FROM version CROSS JOIN refused WHERE NOT is_out
      -- The number is in another call, or there is a call of this id.
      ON CONFLICT DO NOTHING RETURNING id
    ), recorded AS (
      INSERT INTO runs (organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context)
      SELECT ${call.organizationId}::int, ${call.agentId}::int, version.id, attempted.id, ${runName(as.callId)}, ${as.provider}::text,
        ${JSON.stringify(knownOf(call))}::text::jsonb || (variables || ${JSON.stringify(call.initialContext)}::text::jsonb) - ${reservedNames}::text[]
          || jsonb_build_object('called_number', ${call.phoneNumber}::text, 'provider', ${as.provider}::text)
      FROM version CROSS JOIN attempted
      RETURNING id, agent_definition_id, initial_context
    )
    SELECT EXISTS (SELECT FROM version) AS found, EXISTS (SELECT FROM attempts WHERE id = ${as.callId}::uuid) AS is_known, (SELECT is_out FROM refused) AS is_out,
      (SELECT jsonb_build_object('runId', id, 'agentDefinitionId', agent_definition_id, 'initialContext', initial_context) FROM recorded) AS begun`
  if (row === undefined || !row.found) return yield* new CallNotPlaced({ reason: "Its agent or telephony configuration is gone." })
  if (row.isKnown) return yield* new CallUnsettled()
  if (row.isOut) return yield* new NumberOptedOut()
  if (row.begun === null) return yield* new NumberInCall()
  return { ...call, ...row.begun, callId: as.callId, campaign: undefined }
})
