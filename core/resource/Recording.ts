/** Recorded speech that an agent can play instead of speaking. */
import { Schema } from "effect"
import { type AgentId, type OrganizationId, RecordingId } from "../Id.ts"

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

export type RecordingName =
  | { readonly _tag: "Id"; readonly id: RecordingId }
  | { readonly _tag: "RecordingId"; readonly recordingId: string }

/** Digits alone are never a `recordingId`. */
export const recordingIdPattern = "^(?!\\d+$)[A-Za-z0-9_-]{1,64}$"
const maxId = 2_147_483_647

/** Clients know a recording by either. Undefined: no recording can be called so. */
export const nameOf = (text: string): RecordingName | undefined => {
  if (new RegExp(recordingIdPattern).test(text)) return { _tag: "RecordingId", recordingId: text }
  return /^\d{1,10}$/.test(text) && Number(text) <= maxId ? { _tag: "Id", id: RecordingId.make(Number(text)) } : undefined
}

/** `id` is what the client called it. */
export class RecordingNotFound extends Schema.TaggedError<RecordingNotFound>()("RecordingNotFound", { id: Schema.String }) {}
export class RecordingIdTaken extends Schema.TaggedError<RecordingIdTaken>()("RecordingIdTaken", { recordingId: Schema.String }) {}
