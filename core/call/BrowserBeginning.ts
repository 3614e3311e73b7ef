/** How the call of a browser's run begins: once, whatever engine is asked, and however often. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, CallId, OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { RunNotFound } from "#core/run/Run.ts"
import { storableJson } from "#core/storable.ts"
import type { AgentPart, Attempt } from "./Attempt.ts"
import { browserMode, unreserved } from "./BrowserRun.ts"

type Sql = SqlClient.SqlClient

/** Which run is called. */
export interface RunOf {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly runId: RunId
}

/** The run has had its call, or has it now. */
export class BrowserRunTaken extends Schema.TaggedError<BrowserRunTaken>()("BrowserRunTaken", { isCompleted: Schema.Boolean }) {}

/** Who is to have the call. */
interface Beginning {
  readonly callId: CallId
  readonly node: string
  readonly journal: string
  /** What the page says of the call, over what the run knows already. */
  readonly context: JsonObject
  /** Epoch milliseconds. */
  readonly now: number
}

export type BrowserAttempt = Attempt & AgentPart

// The condition is on the row that is changed: of two that begin at once, the second waits for the first, and finds that the run has its call.
export const begin = Effect.fnUntraced(function* (
  sql: Sql,
  { agentId, organizationId, runId }: RunOf,
  { callId, context, journal, node, now }: Beginning
) {
  const [begun] = yield* sql<AgentPart>`
    WITH begun AS (
      UPDATE runs SET attempt_id = ${callId}::uuid,
        initial_context = initial_context || ${storableJson(unreserved(context))}::text::jsonb
      WHERE id = ${runId}::int AND organization_id = ${organizationId}::int AND agent_id = ${agentId}::int AND mode = ${browserMode}
        AND attempt_id IS NULL AND NOT is_completed
      RETURNING agent_definition_id, initial_context
    ), attempted AS (
      INSERT INTO attempts (id, organization_id, node, journal, state, sent_at)
      SELECT ${callId}::uuid, ${organizationId}::int, ${node}, ${journal}::uuid, 'sent', to_timestamp(${now}::float8 / 1000) FROM begun
    )
    SELECT agent_definition_id, initial_context FROM begun`
  if (begun === undefined) return yield* whyNot(sql, { agentId, organizationId, runId })
  const attempt: BrowserAttempt = { ...begun, callId, organizationId, runId, campaign: undefined, telephonyConfigurationId: undefined }
  return attempt
})

const whyNot = Effect.fnUntraced(function* (sql: Sql, { agentId, organizationId, runId }: RunOf) {
  const [run] = yield* sql<{ readonly isCompleted: boolean; readonly id: RunId }>`
    SELECT id, is_completed FROM runs
    WHERE id = ${runId}::int AND organization_id = ${organizationId}::int AND agent_id = ${agentId}::int AND mode = ${browserMode}`
  return yield* run === undefined ? new RunNotFound({ id: runId }) : new BrowserRunTaken({ isCompleted: run.isCompleted })
})
