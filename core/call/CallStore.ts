import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { CallableAgent } from "#core/agent/Agent.ts"
import { callable } from "#core/agent/AgentStore.ts"
import { isPresentable } from "#core/telephony/CallerId.ts"
import type { AgentId, CallId, OrganizationId, PhoneNumberId, RunId, TelephonyConfigId } from "#core/Id.ts"

type Sql = SqlClient.SqlClient

/** The attempt with the id of a single call, and its run. */
interface BegunCall {
  readonly state: "intent" | "sent" | "answered" | "ended" | "void"
  readonly wasSent: boolean
  /** Null when the call is void. */
  readonly run: { readonly runId: RunId; readonly runName: string } | null
}

export const begun = (sql: Sql, organizationId: OrganizationId, callId: CallId) =>
  sql<BegunCall>`
    SELECT a.state, a.sent_at IS NOT NULL AS was_sent,
      CASE WHEN r.id IS NOT NULL THEN jsonb_build_object('runId', r.id, 'runName', r.name) END AS run
    FROM attempts a LEFT JOIN runs r ON r.attempt_id = a.id
    WHERE a.id = ${callId}::uuid AND a.organization_id = ${organizationId}`.pipe(Effect.map((rows) => rows[0]))

export const findAgent = (sql: Sql, organizationId: OrganizationId, id: AgentId) =>
  sql<CallableAgent>`SELECT ${callable(sql)} FROM agents a WHERE a.organization_id = ${organizationId} AND a.id = ${id}`.pipe(
    Effect.map((rows) => rows[0])
  )

export const testPhoneNumber = (sql: Sql, organizationId: OrganizationId) =>
  sql<{ readonly number: string | null }>`SELECT test_phone_number AS number FROM organizations WHERE id = ${organizationId}`.pipe(
    Effect.map((rows) => rows[0]?.number ?? undefined)
  )

/** The address of an active number of the configuration; undefined if it cannot be shown to a callee. */
export const callerNumber = (sql: Sql, organizationId: OrganizationId, configId: TelephonyConfigId, id: PhoneNumberId) =>
  sql<{ readonly address: string }>`
    SELECT address_normalized AS address FROM phone_numbers
    WHERE organization_id = ${organizationId} AND telephony_configuration_id = ${configId} AND id = ${id} AND is_active`.pipe(
    Effect.map(([row]) => (row !== undefined && isPresentable(row.address) ? row.address : undefined))
  )

export const findRun = (sql: Sql, organizationId: OrganizationId, id: RunId) =>
  sql<{ readonly agentId: AgentId; readonly isLive: boolean }>`
    SELECT r.agent_id, NOT r.is_completed AS is_live FROM runs r WHERE r.organization_id = ${organizationId} AND r.id = ${id}`.pipe(
    Effect.map((rows) => rows[0])
  )
