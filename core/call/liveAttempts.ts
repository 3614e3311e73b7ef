/** Attempts that are not over, for settling those that have no actor. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentDefinitionId, CallId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { CampaignPart, LeftAttempt } from "./Attempt.ts"
import { callRefColumnsSql, callRefOf, type CallRefRow } from "./callRefRow.ts"

type Sql = SqlClient.SqlClient

/** All of them, or those of `callIds`; oldest first. */
export const liveAttempts = (sql: Sql, callIds: ReadonlyArray<CallId> | undefined) =>
  sql<
    CallRefRow & {
      readonly organizationId: OrganizationId
      readonly runId: RunId
      readonly agentDefinitionId: AgentDefinitionId
      readonly initialContext: Readonly<Record<string, unknown>>
      readonly telephonyConfigurationId: TelephonyConfigId | null
      readonly node: string
      readonly journal: string | null
      readonly state: LeftAttempt["state"]
      readonly answeredAt: number | null
      readonly campaign: CampaignPart | null
    }
  >`
    SELECT ${sql.literal(callRefColumnsSql)}, a.organization_id, r.id AS run_id, r.agent_definition_id, r.initial_context, a.telephony_configuration_id, a.node, a.journal,
      a.state, extract(epoch FROM a.answered_at)::float8 * 1000 AS answered_at,
      CASE WHEN c.id IS NULL THEN NULL ELSE jsonb_build_object('campaignId', c.id, 'rowNo', a.row_no, 'retriesUsed', a.number - 1,
        'settingsVersion', c.settings_version, 'retry', c.retry_config,
        'breakerEnabled', coalesce((c.circuit_breaker ->> 'enabled')::bool, false), 'breakerEpoch', a.breaker_epoch) END AS campaign
    FROM attempts a JOIN runs r ON r.attempt_id = a.id LEFT JOIN campaigns c ON c.id = a.campaign_id
    WHERE a.state IN ('intent', 'sent', 'answered') AND (${callIds === undefined}::bool OR a.id = ANY (${callIds ?? []}::uuid[]))
    ORDER BY a.created_at`.pipe(
    Effect.map((rows) =>
      rows.map(
        (row): LeftAttempt => ({
          ...row,
          call: callRefOf(row),
          campaign: row.campaign ?? undefined,
          journal: row.journal ?? undefined,
          telephonyConfigurationId: row.telephonyConfigurationId ?? undefined,
          answeredAt: row.answeredAt ?? undefined
        })
      )
    )
  )

export const liveIds = (sql: Sql, after: CallId | undefined, olderThanSeconds: number, limit: number) =>
  sql<{ readonly id: CallId }>`
    SELECT id FROM attempts
    WHERE state IN ('intent', 'sent', 'answered') AND created_at < now() - ${olderThanSeconds}::int * interval '1 second'
      AND (${after ?? null}::uuid IS NULL OR id > ${after ?? null}::uuid)
    ORDER BY id LIMIT ${limit}::int`.pipe(Effect.map((rows) => rows.map(({ id }) => id)))
