/**
 * Attempts that a database has lost: a standby takes over without the latest commits of the one before it, and contacts that were called a moment
 * ago wait to be called. Their attempts are written once more, as `sent`, before anybody is dialed.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CallId, CampaignId, OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { intoCampaignLog, logEntry } from "#core/CampaignLog.ts"
import type { AgentPart, Attempt } from "./Attempt.ts"
import { knownOf, recording, runName } from "./AttemptBeginning.ts"

/** Whom a call dials, in a form that says nothing about them. */
export interface DialedContact {
  readonly campaignId: CampaignId
  readonly rowNo: number
  readonly telephonyConfigurationId: TelephonyConfigId
  /** The local journal of the call node that has the call; undefined for a call of the engine itself. */
  readonly carrier?: string | undefined
}

/** Undefined for a call outside of campaigns. */
export const dialedBy = ({ campaign, telephonyConfigurationId }: Attempt, carrier?: string): DialedContact | undefined =>
  campaign === undefined || telephonyConfigurationId === undefined
    ? undefined
    : { campaignId: campaign.campaignId, rowNo: campaign.rowNo, telephonyConfigurationId, ...(carrier !== undefined && { carrier }) }

export interface LostAttempt extends DialedContact {
  readonly callId: CallId
  readonly node: string
  /** The local journal that names it once it has left; undefined if it may have left already. */
  readonly journal: string | undefined
  /** What became of it is known: its number is free. */
  readonly isOver: boolean
}

/**
 * - `Written`: the attempt is there again, and its contact with it.
 * - `Taken`: its contact, or its number, has another attempt that is not over.
 * - `Gone`: there is nobody left to be called again: the contact is done, or was lost as well.
 */
export type Rewritten = "Written" | "Taken" | "Gone"

type Sql = SqlClient.SqlClient

/** Those of the ids that no attempt has, in the order in which they were given. */
export const lostOf = (sql: Sql, callIds: ReadonlyArray<CallId>) =>
  sql<{ readonly id: CallId }>`
    SELECT known.id FROM unnest(${callIds}::uuid[]) WITH ORDINALITY AS known (id, place)
    WHERE NOT EXISTS (SELECT FROM attempts WHERE attempts.id = known.id) ORDER BY place`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id))
  )

/** A campaign that was created so much later than a call is another one, which was given the id of a lost one. */
const CLOCKS_APART = "1 minute"

// When the call began is told by its id. What is not known any more is as the campaign has it now: the agent's version and the epochs.
//
// An earlier attempt that holds the number is over, which the database has lost as well: otherwise this one could not have begun.
export const rewrite = (sql: Sql, { callId, campaignId, isOver, journal, node, rowNo, telephonyConfigurationId }: LostAttempt) =>
  sql<{ readonly organizationId: OrganizationId | null; readonly state: string | null; readonly isWritten: boolean }>`
    WITH owned AS MATERIALIZED (
      SELECT id, organization_id, agent_id, dial_epoch, breaker_epoch FROM campaigns
      WHERE id = ${campaignId}::int AND created_at <= to_timestamp(${millisOf(callId)}::float8 / 1000) + ${CLOCKS_APART}::text::interval
    ), configuration AS MATERIALIZED (
      SELECT id, provider FROM telephony_configurations
      WHERE id = ${telephonyConfigurationId}::int AND organization_id = (SELECT organization_id FROM owned)
    ), contact AS MATERIALIZED (
      SELECT row_no, state, phone_number, retries_used FROM contacts
      WHERE campaign_id = (SELECT id FROM owned) AND row_no = ${rowNo}::int FOR UPDATE
    ), released AS (
      UPDATE attempts SET holds_number = false FROM contact
      WHERE organization_id = (SELECT organization_id FROM owned) AND attempts.phone_number = contact.phone_number AND holds_number
        AND attempts.id < ${callId}::uuid AND contact.state IN ('pending', 'retry_wait') AND NOT ${isOver}::bool
      RETURNING attempts.id
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, campaign_id, row_no, number, telephony_configuration_id, node, journal,
        dial_epoch, breaker_epoch, state, sent_at, phone_number, holds_number)
      SELECT ${callId}::uuid, owned.organization_id, owned.id, row_no, retries_used + 1, configuration.id, ${node}, ${journal ?? null}::uuid,
        owned.dial_epoch, owned.breaker_epoch, 'sent', to_timestamp(${millisOf(callId)}::float8 / 1000), phone_number, NOT ${isOver}::bool
      FROM contact CROSS JOIN owned CROSS JOIN configuration
      WHERE contact.state IN ('pending', 'retry_wait') AND (SELECT count(*) FROM released) IS NOT NULL
      ON CONFLICT DO NOTHING
      RETURNING id, row_no, caller_number
    ), dialing AS (
      UPDATE contacts SET state = 'dialing', awaits_number = false
      WHERE campaign_id = (SELECT id FROM owned) AND row_no = ANY (ARRAY(SELECT row_no FROM attempted))
      RETURNING row_no, phone_number, context, retries_used, retry_reason
    ), ${recording(sql, { provider: sql.literal("(SELECT provider FROM configuration)"), telephonyConfigurationId })}
    SELECT (SELECT organization_id FROM owned CROSS JOIN configuration) AS organization_id, (SELECT state FROM contact) AS state,
      EXISTS (SELECT FROM attempted) AS is_written`.pipe(
    Effect.map(([row]): Rewritten => {
      if (row?.isWritten === true) return "Written"
      const isOpen = row?.organizationId != null && row.state !== null && openStates.has(row.state)
      return isOpen ? "Taken" : "Gone"
    })
  )

/** Earlier attempts of the contact that the database holds to be under way. They were over before this one began, which it has lost. */
export const formerOf = (sql: Sql, { callId, campaignId, rowNo }: Pick<LostAttempt, "callId" | "campaignId" | "rowNo">) =>
  sql<{ readonly id: CallId }>`
    SELECT id FROM attempts
    WHERE campaign_id = ${campaignId}::int AND row_no = ${rowNo}::int AND id < ${callId}::uuid AND state NOT IN ('ended', 'void')`.pipe(
    Effect.map((rows) => rows.map(({ id }) => id))
  )

interface LostSingle extends Omit<Attempt, "campaign">, Pick<AgentPart, "agentDefinitionId"> {
  readonly telephonyConfigurationId: TelephonyConfigId
  readonly phoneNumber: string
  /** The number that the callee is shown, if that is known by now. */
  readonly from: string | undefined
  readonly node: string
  readonly journal: string
}

/** A single call that goes on holds its number, and keeps its run under the number that its client was told; what the client had said of it is lost. */
export const rewriteSingle = (sql: Sql, call: LostSingle) => {
  const { agentDefinitionId, callId, from, journal, node, organizationId, phoneNumber, runId, telephonyConfigurationId } = call
  return sql`
    WITH version AS MATERIALIZED (
      SELECT d.id, d.agent_id, t.provider FROM agent_definitions d JOIN agents a ON a.id = d.agent_id
      JOIN telephony_configurations t ON t.organization_id = a.organization_id AND t.id = ${telephonyConfigurationId}::int
      WHERE d.id = ${agentDefinitionId}::int AND a.organization_id = ${organizationId}::int
    ), released AS (
      UPDATE attempts SET holds_number = false
      WHERE organization_id = ${organizationId}::int AND phone_number = ${phoneNumber}::text AND holds_number AND id < ${callId}::uuid
      RETURNING id
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, journal, state, sent_at, phone_number, caller_number, holds_number)
      SELECT ${callId}::uuid, ${organizationId}::int, ${telephonyConfigurationId}::int, ${node}, ${journal}::uuid, 'sent',
        to_timestamp(${millisOf(callId)}::float8 / 1000), ${phoneNumber}::text, ${from ?? null}::text, true
      FROM version WHERE (SELECT count(*) FROM released) IS NOT NULL
      ON CONFLICT DO NOTHING RETURNING id
    )
    INSERT INTO runs (id, organization_id, agent_id, agent_definition_id, attempt_id, name, mode, initial_context) OVERRIDING SYSTEM VALUE
    SELECT ${runId}::int, ${organizationId}::int, version.agent_id, version.id, attempted.id, ${runName(callId)}, version.provider,
      ${JSON.stringify(knownOf({ from, phoneNumber, telephonyConfigurationId }))}::text::jsonb
        || jsonb_build_object('called_number', ${phoneNumber}::text, 'provider', version.provider)
    FROM version CROSS JOIN attempted ON CONFLICT DO NOTHING RETURNING id`.pipe(Effect.map((rows) => rows.length > 0))
}

const openStates: ReadonlySet<string> = new Set(["pending", "retry_wait", "dialing", "in_call"])

/** The time with which an id of version 7 begins; epoch milliseconds. */
const millisOf = (callId: CallId): number => Number.parseInt(callId.slice(0, 13).replace("-", ""), 16)

/** Pauses all running campaigns, with an entry in their logs, and returns how many that were. No engine may be dialing on this database. */
export const pauseRestored = (sql: Sql) => pauseAll(sql, restored)
/** The same for a database that has failed over, and lost more than the engine remembers. */
export const pauseForgotten = (sql: Sql) => pauseAll(sql, forgottenCalls)

const pauseAll = (sql: Sql, entry: typeof restored | typeof forgottenCalls) =>
  sql`
    WITH stopped AS (
      UPDATE campaigns SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = NULL WHERE state = 'running'
      RETURNING id, organization_id
    )
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, entry)} FROM stopped RETURNING id`.pipe(
    Effect.map((rows) => rows.length)
  )

const restored = {
  event: "database_restored",
  level: "warning",
  message:
    "Paused: the database is a copy, perhaps from a backup. Contacts that were called after it was made would be called again: check them before you resume."
} as const

const forgottenCalls = {
  event: "database_failed_over",
  level: "warning",
  message:
    "Paused: the database has failed over, and has lost more than the engine remembers. Contacts that were called since then would be called again: check them before you resume."
} as const

/** The campaign had stopped, and a database that failed over has forgotten that. Returns whether it was running. */
export const stopAgain = (sql: Sql, id: CampaignId, dialEpoch: number | null = null) =>
  sql`
    WITH stopped AS (
      UPDATE campaigns SET state = 'paused', dial_epoch = dial_epoch + 1, resume_tries = NULL WHERE id = ${id}::int AND state = 'running' AND dial_epoch <= coalesce(${dialEpoch}::int, dial_epoch)
      RETURNING id, organization_id
    )
    ${intoCampaignLog(sql)} SELECT organization_id, id, ${logEntry(sql, forgotten)} FROM stopped RETURNING id`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

const forgotten = {
  event: "database_failed_over",
  level: "warning",
  message: "Paused: the campaign had stopped when the database failed over, and the database has lost why."
} as const

/** Owners that the database does not know of any more stay owners. */
export const keepOwner = (sql: Sql, id: CampaignId, ownerEpoch: number) =>
  sql`UPDATE campaigns SET owner_epoch = ${ownerEpoch}::int WHERE id = ${id}::int AND state = 'running' AND owner_epoch < ${ownerEpoch}::int`.pipe(
    Effect.asVoid
  )
