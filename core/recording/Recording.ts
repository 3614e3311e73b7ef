/** Recorded speech that an agent can play instead of speaking. */
import { Schema } from "effect"
import type { AgentId, OrganizationId, RecordingId } from "#core/Id.ts"

export interface Recording {
  readonly id: RecordingId
  /** The short name under which prompts and contacts refer to it; one of its kind in the organization. */
  readonly recordingId: string
  readonly organizationId: OrganizationId
  readonly agentId: AgentId | null
  readonly ttsProvider: string | null
  readonly ttsModel: string | null
  readonly ttsVoiceId: string | null
  readonly transcript: string
  readonly storageKey: string
  readonly metadata: Readonly<Record<string, unknown>>
  /** Null when a key that belongs to no user made it. */
  readonly createdBy: number | null
  readonly createdAt: Date
}

/** `id` is what the client called it. */
export class RecordingNotFound extends Schema.TaggedError<RecordingNotFound>()("RecordingNotFound", { id: Schema.String }) {}
export class RecordingIdTaken extends Schema.TaggedError<RecordingIdTaken>()("RecordingIdTaken", { recordingId: Schema.String }) {}
