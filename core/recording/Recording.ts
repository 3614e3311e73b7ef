/** Recorded speech that an agent can play instead of speaking. */
import { Schema } from "effect"
import type { AgentId, OrganizationId, RecordingId } from "#core/Id.ts"

export interface Recording {
  readonly id: RecordingId
  /** The short name that prompts and contacts use; unique within the organization. */
  readonly recordingId: string
  readonly organizationId: OrganizationId
  readonly agentId: AgentId | null
  readonly ttsProvider: string | null
  readonly ttsModel: string | null
  readonly ttsVoiceId: string | null
  readonly transcript: string
  readonly storageKey: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Null when it was created with a key that belongs to no user. */
  readonly createdBy: number | null
  readonly createdAt: Date
}

/** `id` is the name as the client sent it. */
export class RecordingNotFound extends Schema.TaggedError<RecordingNotFound>()("RecordingNotFound", { id: Schema.String }) {}
export class RecordingIdTaken extends Schema.TaggedError<RecordingIdTaken>()("RecordingIdTaken", { recordingId: Schema.String }) {}
