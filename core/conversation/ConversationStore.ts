import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentDefinitionId, CallId, OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ConversationEntry } from "./ConversationEntry.ts"

type Sql = SqlClient.SqlClient

/** Rows that one statement deletes. */
export const forgottenAtOnce = 1000

export interface EntryRow {
  readonly callId: CallId
  readonly ordinal: number
  readonly organizationId: OrganizationId
  readonly kind: ConversationEntry["kind"]
  /** As JSON that Postgres accepts. */
  readonly content: string
}

/**
 * Entries of any number of calls. Those that are there already stay as they are. Does not wait for the disk, unless a callback is among them, whose
 * event others act on: a crash of Postgres, which no crash of ours is, may lose the last moment.
 */
export const append = (sql: Sql, rows: ReadonlyArray<EntryRow>) => {
  const isLasting = rows.some(({ kind }) => kind === "callback")
  return sql`
    INSERT INTO conversation_entries (call_id, ordinal, organization_id, kind, content)
    SELECT call_id, ordinal, organization_id, kind, content::jsonb FROM unnest(${rows.map(({ callId }) => callId)}::uuid[],
      ${rows.map(({ ordinal }) => ordinal)}::int[], ${rows.map(({ organizationId }) => organizationId)}::int[],
      ${rows.map(({ kind }) => kind)}::text[], ${rows.map(({ content }) => content)}::text[])
      AS given (call_id, ordinal, organization_id, kind, content)
    WHERE ${isLasting}::bool OR set_config('synchronous_commit', 'off', true) IS NOT NULL
    ON CONFLICT DO NOTHING`.pipe(Effect.asVoid)
}

/** All entries of a call, in order. */
export const read = (sql: Sql, callId: CallId) =>
  sql<ConversationEntry>`SELECT kind, content FROM conversation_entries WHERE call_id = ${callId}::uuid ORDER BY ordinal`

/** The calls of which there are entries: those that are live, and those that a process that died has left behind. */
export const calls = (sql: Sql) =>
  sql<{ readonly callId: CallId }>`SELECT DISTINCT call_id FROM conversation_entries`.pipe(
    Effect.map((rows) => rows.map(({ callId }) => callId))
  )

/** Deletes entries of calls that are over. There are some only if a connection was cut just as the end of their call was recorded. */
export const forget = (sql: Sql) =>
  sql`
    DELETE FROM conversation_entries WHERE (call_id, ordinal) IN (
      SELECT e.call_id, e.ordinal FROM conversation_entries e
      WHERE e.created_at < now() - interval '2 hours'
        AND NOT EXISTS (SELECT FROM attempts a WHERE a.id = e.call_id AND a.state IN ('intent', 'sent', 'answered'))
      LIMIT ${forgottenAtOnce}::int)
    RETURNING 1`.pipe(Effect.map((rows) => rows.length))

/** What the conversation of a run follows: its agent's version, and what was known before the call. Undefined: the run has been deleted. */
export const runOf = (sql: Sql, id: RunId) =>
  sql<{ readonly agentDefinitionId: AgentDefinitionId; readonly initialContext: JsonObject }>`
    SELECT agent_definition_id, initial_context FROM runs WHERE id = ${id}`.pipe(Effect.map(([run]) => run))
