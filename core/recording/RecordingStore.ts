import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import type { AgentId, OrganizationId, RecordingId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import type { UserId } from "#core/organization/Caller.ts"
import type { Recording } from "./Recording.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"

type Sql = SqlClient.SqlClient

const columns = (sql: Sql) =>
  sql.literal(
    "id, recording_id, organization_id, agent_id, tts_provider, tts_model, tts_voice_id, transcript, storage_key, metadata, created_by, created_at"
  )

interface RecordingValues {
  readonly recordingId: string
  readonly agentId: AgentId | null
  readonly ttsProvider: string | null
  readonly ttsModel: string | null
  readonly ttsVoiceId: string | null
  readonly transcript: string
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Creates the recording from a received upload, which is consumed. Returns no row when there is no such upload. */
export const insert = (
  sql: Sql,
  organizationId: OrganizationId,
  recording: RecordingValues & { readonly storageKey: string; readonly createdBy: UserId | null }
) =>
  sql<Recording>`
    WITH upload AS (
      DELETE FROM uploads WHERE organization_id = ${organizationId} AND key = ${recording.storageKey} AND received_at IS NOT NULL RETURNING key
    )
    INSERT INTO recordings (organization_id, recording_id, agent_id, tts_provider, tts_model, tts_voice_id, transcript, storage_key, metadata,
      created_by)
    SELECT ${organizationId}::int, ${recording.recordingId}::text, ${recording.agentId}::int, ${recording.ttsProvider}::text,
      ${recording.ttsModel}::text, ${recording.ttsVoiceId}::text, ${recording.transcript}::text, key,
      ${JSON.stringify(recording.metadata)}::text::jsonb, ${recording.createdBy}::int
    FROM upload RETURNING ${columns(sql)}`.pipe(Effect.map((rows) => rows[0]))

interface RecordingFilter {
  readonly agentId: AgentId | null
  readonly ttsProvider: string | null
  readonly ttsModel: string | null
  readonly ttsVoiceId: string | null
}

export const list = (sql: Sql, organizationId: OrganizationId, filter: RecordingFilter, { limit, offset }: Page) => sql<Recording>`
  SELECT ${columns(sql)} FROM recordings
  WHERE organization_id = ${organizationId}
    AND (${filter.agentId}::int IS NULL OR agent_id = ${filter.agentId}::int)
    AND (${filter.ttsProvider}::text IS NULL OR tts_provider = ${filter.ttsProvider}::text)
    AND (${filter.ttsModel}::text IS NULL OR tts_model = ${filter.ttsModel}::text)
    AND (${filter.ttsVoiceId}::text IS NULL OR tts_voice_id = ${filter.ttsVoiceId}::text)
  ORDER BY id DESC LIMIT ${limit} OFFSET ${offset}`

const named = (sql: Sql, name: RecordingName) => (name._tag === "Id" ? sql`id = ${name.id}` : sql`recording_id = ${name.recordingId}`)

export const find = (sql: Sql, organizationId: OrganizationId, name: RecordingName) =>
  sql<Recording>`SELECT ${columns(sql)} FROM recordings WHERE organization_id = ${organizationId} AND ${named(sql, name)}`.pipe(
    Effect.map((rows) => rows[0])
  )

/** Nobody else changes the recording before the transaction ends. */
export const lock = (sql: Sql, organizationId: OrganizationId, name: RecordingName) =>
  sql<Recording>`
    SELECT ${columns(sql)} FROM recordings WHERE organization_id = ${organizationId} AND ${named(sql, name)} FOR UPDATE`.pipe(
    Effect.map((rows) => rows[0])
  )

export const update = (sql: Sql, organizationId: OrganizationId, id: RecordingId, recording: RecordingValues) => sql<Recording>`
  UPDATE recordings SET recording_id = ${recording.recordingId}, agent_id = ${recording.agentId}, tts_provider = ${recording.ttsProvider},
    tts_model = ${recording.ttsModel}, tts_voice_id = ${recording.ttsVoiceId}, transcript = ${recording.transcript},
    metadata = ${JSON.stringify(recording.metadata)}::text::jsonb
  WHERE organization_id = ${organizationId} AND id = ${id} RETURNING ${columns(sql)}`

export const remove = (sql: Sql, organizationId: OrganizationId, id: RecordingId) => sql`
  DELETE FROM recordings WHERE organization_id = ${organizationId} AND id = ${id}`

export const hasAgent = (sql: Sql, organizationId: OrganizationId, agentId: AgentId) =>
  sql`SELECT 1 FROM agents WHERE organization_id = ${organizationId} AND id = ${agentId}`.pipe(Effect.map((rows) => rows.length > 0))
