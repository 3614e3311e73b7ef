/** Text chats in Postgres. What changes one runs in a transaction that begins with `advance`. */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { StoredState } from "#core/agent/conversation/StoredState.ts"
import type { AgentDefinitionId, AgentId, OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { CostInfo, UsageInfo } from "#core/run/RunRecord.ts"
import { storableJson } from "#core/storable.ts"
import { type ChatTurn, type TextChat, textChatMode } from "./TextChat.ts"

type Sql = SqlClient.SqlClient

export interface ChatOf {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly runId: RunId
}

/** The place of the turn that the next message continues from, in a statement that aliases the chat as `c`. */
const currentPlace = (sql: Sql) => sql`(
  SELECT max(l.place) FROM text_chat_turns l
  WHERE l.run_id = c.run_id AND l.discarded_at IS NULL AND (c.cursor_turn_id IS NULL OR l.turn ->> 'id' = c.cursor_turn_id))`

/** One statement, so that all of it is of one moment. */
export const find = (sql: Sql, { agentId, organizationId, runId }: ChatOf) =>
  sql<TextChat>`
    SELECT r.id AS run_id, r.agent_id, r.agent_definition_id AS definition_id, r.name, r.is_completed, r.created_at, r.initial_context,
      r.gathered_context, r.annotations, r.usage_info,
      c.revision, c.cursor_turn_id, c.context, c.time_zone, c.idle_seconds, c.expires_at, c.updated_at,
      coalesce((SELECT jsonb_agg(jsonb_build_object('place', t.place, 'turn', t.turn,
          'discardedAt', to_char(t.discarded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'rewoundFrom', t.rewound_from) ORDER BY t.place)
        FROM text_chat_turns t WHERE t.run_id = c.run_id), '[]') AS turns,
      (SELECT t.state FROM text_chat_turns t WHERE t.run_id = c.run_id AND t.place = ${currentPlace(sql)}) AS state
    FROM runs r JOIN text_chats c ON c.run_id = r.id
    WHERE r.organization_id = ${organizationId} AND r.agent_id = ${agentId} AND r.id = ${runId}`.pipe(Effect.map((rows) => rows[0]))

/** Whether there is such a run, of whatever kind. */
export const hasRun = (sql: Sql, { agentId, organizationId, runId }: ChatOf) =>
  sql`SELECT 1 FROM runs WHERE organization_id = ${organizationId} AND agent_id = ${agentId} AND id = ${runId}`.pipe(
    Effect.map((rows) => rows.length > 0)
  )

export const ofRequest = (sql: Sql, organizationId: OrganizationId, agentId: AgentId, requestId: string) =>
  sql<{ readonly runId: RunId }>`
    SELECT c.run_id FROM text_chats c JOIN runs r ON r.id = c.run_id
    WHERE c.organization_id = ${organizationId} AND r.agent_id = ${agentId} AND c.request_id = ${requestId}::uuid`.pipe(
    Effect.map((rows) => rows[0]?.runId)
  )

/** What the record of the run says of the chat. */
export interface Recorded {
  readonly gathered: JsonObject
  readonly logs: JsonObject
  readonly usage: JsonObject
}

interface NewChat extends Recorded {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly requestId: string | undefined
  readonly name: string
  readonly initialContext: JsonObject
  readonly annotations: JsonObject
  readonly context: JsonObject
  readonly timeZone: string
  readonly idleSeconds: number
  readonly now: number
}

const instant = (sql: Sql, millis: number | null) => sql`to_timestamp(${millis}::float8 / 1000)`

/** When the chat ends unless it is written to before. */
const expiry = (now: number, idleSeconds: number) => now + idleSeconds * 1000

/** Open, with its run, and without a turn. */
export const begin = Effect.fnUntraced(function* (sql: Sql, chat: NewChat) {
  const { agentId, definitionId, idleSeconds, name, now, organizationId, requestId, timeZone } = chat
  const [run] = yield* sql<{ readonly id: RunId }>`
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, name, mode, initial_context, annotations)
    VALUES (${organizationId}, ${agentId}, ${definitionId}, ${name}, ${textChatMode}, ${storableJson(chat.initialContext)}::text::jsonb,
      ${storableJson(chat.annotations)}::text::jsonb)
    RETURNING id`
  if (run === undefined) return yield* Effect.die("An inserted run was not returned")
  yield* sql`
    INSERT INTO text_chats (run_id, organization_id, request_id, context, time_zone, idle_seconds, expires_at, updated_at)
    VALUES (${run.id}, ${organizationId}, ${requestId ?? null}::uuid, ${storableJson(chat.context)}::text::jsonb, ${timeZone}, ${idleSeconds},
      ${instant(sql, expiry(now, idleSeconds))}, ${instant(sql, now)})`
  yield* record(sql, organizationId, run.id, chat)
  return run.id
})

/** False: the chat has changed since, or is over. Nobody else changes it before the transaction ends. */
export const advance = (
  sql: Sql,
  { idleSeconds, revision, runId }: Pick<TextChat, "idleSeconds" | "revision" | "runId">,
  {
    cursorTurnId,
    now,
    organizationId
  }: { readonly organizationId: OrganizationId; readonly cursorTurnId: string | null; readonly now: number }
) =>
  sql`
    UPDATE text_chats SET revision = revision + 1, cursor_turn_id = ${cursorTurnId}::text,
      expires_at = ${instant(sql, expiry(now, idleSeconds))}, updated_at = ${instant(sql, now)}
    WHERE organization_id = ${organizationId} AND run_id = ${runId} AND revision = ${revision} AND expires_at IS NOT NULL
    RETURNING run_id`.pipe(Effect.map((rows) => rows.length > 0))

export const addTurn = (
  sql: Sql,
  organizationId: OrganizationId,
  runId: RunId,
  { place, state, turn }: { readonly place: number; readonly turn: ChatTurn; readonly state: StoredState }
) => sql`
  INSERT INTO text_chat_turns (run_id, organization_id, place, turn, state)
  VALUES (${runId}, ${organizationId}, ${place}, ${storableJson(turn)}::text::jsonb, ${storableJson(state)}::text::jsonb)`

/** Takes back the turns after this one. */
export const discardAfter = (
  sql: Sql,
  organizationId: OrganizationId,
  runId: RunId,
  { place, turnId, now }: { readonly place: number; readonly turnId: string; readonly now: number }
) => sql`
  UPDATE text_chat_turns SET discarded_at = ${instant(sql, now)}, rewound_from = ${turnId}
  WHERE organization_id = ${organizationId} AND run_id = ${runId} AND place > ${place} AND discarded_at IS NULL`

/** Replaces what the record said before. */
export const record = (sql: Sql, organizationId: OrganizationId, runId: RunId, { gathered, logs, usage }: Recorded) => sql`
  UPDATE runs SET gathered_context = ${storableJson(gathered)}::text::jsonb, logs = ${storableJson(logs)}::text::jsonb,
    usage_info = ${storableJson(usage)}::text::jsonb
  WHERE organization_id = ${organizationId} AND id = ${runId}`

/** The chat is over, and so is its run. States are large and no longer needed, so they are deleted. Returns all usage of the chat. */
export const complete = Effect.fnUntraced(function* (sql: Sql, organizationId: OrganizationId, runId: RunId, at: number) {
  yield* sql`
    UPDATE text_chat_turns t SET state = NULL FROM text_chats c
    WHERE t.organization_id = ${organizationId} AND t.run_id = ${runId} AND c.run_id = t.run_id AND t.place <> ${currentPlace(sql)}`
  yield* sql`UPDATE text_chats SET expires_at = NULL WHERE organization_id = ${organizationId} AND run_id = ${runId}`
  const [run] = yield* sql<{ readonly usageInfo: UsageInfo | null }>`
    UPDATE runs SET is_completed = true, completed_at = ${instant(sql, at)} WHERE organization_id = ${organizationId} AND id = ${runId}
    RETURNING usage_info`
  return run?.usageInfo ?? {}
})

export const setCost = (sql: Sql, organizationId: OrganizationId, runId: RunId, cost: CostInfo) => sql`
  UPDATE runs SET cost_info = ${storableJson(cost)}::text::jsonb WHERE organization_id = ${organizationId} AND id = ${runId}`

const expiredAtOnce = 100

/** The next chats of all organizations that have waited for too long. */
export const expired = (sql: Sql, now: number, after: number) => sql<ChatOf>`
  SELECT c.organization_id, r.agent_id, c.run_id FROM text_chats c JOIN runs r ON r.id = c.run_id
  WHERE c.expires_at <= ${instant(sql, now)} AND c.run_id > ${after}::int ORDER BY c.run_id LIMIT ${expiredAtOnce}::int`
