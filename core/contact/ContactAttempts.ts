/** The calls to one contact, as they are on record. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, CallId, CampaignId, OrganizationId, RunId } from "#core/Id.ts"
import type { HangupCause } from "#core/outcome/HangupCause.ts"
import type { Outcome } from "#core/outcome/Outcome.ts"
import type { Row } from "#core/Row.ts"

/** `void`: it was certainly never placed. */
export const attemptStates = ["intent", "sent", "answered", "ended", "void"] as const

export interface ContactAttempt {
  readonly callId: CallId
  /** 1 is the first call; a void attempt leaves its number to the next. */
  readonly number: number
  readonly state: (typeof attemptStates)[number]
  readonly createdAt: Date
  /** When the request left for the provider. */
  readonly sentAt: Date | undefined
  readonly answeredAt: Date | undefined
  readonly endedAt: Date | undefined
  readonly outcome: Outcome | undefined
  readonly cause: HangupCause | undefined
  readonly run: { readonly id: RunId; readonly agentId: AgentId } | undefined
}

/** More than any contact has, unless its provider keeps refusing before it places the call. */
const mostAttempts = 100

type Found = Row<Omit<ContactAttempt, "run">> & { readonly runId: RunId | null; readonly agentId: AgentId | null }

/** The newest first, a hundred at most. Undefined if the campaign has no such contact. */
export const listAttempts = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  campaignId: CampaignId,
  rowNo: number
) {
  const contact = yield* sql`
    SELECT 1 FROM contacts WHERE organization_id = ${organizationId} AND campaign_id = ${campaignId} AND row_no = ${rowNo}::int`
  if (contact.length === 0) return undefined
  const rows = yield* sql<Found>`
    SELECT a.id AS call_id, a.number, a.state, a.created_at, a.sent_at, a.answered_at, a.ended_at, a.outcome, a.hangup_cause AS cause,
      r.id AS run_id, r.agent_id
    FROM attempts a LEFT JOIN runs r ON r.attempt_id = a.id
    WHERE a.organization_id = ${organizationId} AND a.campaign_id = ${campaignId} AND a.row_no = ${rowNo}::int
    ORDER BY a.number DESC, a.created_at DESC LIMIT ${mostAttempts}::int`
  return rows.map(attemptOf)
})

const attemptOf = ({ agentId, runId, ...row }: Found): ContactAttempt => ({
  ...row,
  sentAt: row.sentAt ?? undefined,
  answeredAt: row.answeredAt ?? undefined,
  endedAt: row.endedAt ?? undefined,
  outcome: row.outcome ?? undefined,
  cause: row.cause ?? undefined,
  run: runId === null || agentId === null ? undefined : { id: runId, agentId }
})
