/** `/workflow-recordings`: speech to play instead of speaking. */
import Type, { type Static } from "typebox"
import type { AgentId, OrganizationId, RecordingId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import type { UserId } from "#core/organization/Caller.ts"
import type { Recording } from "#core/recording/Recording.ts"
import { recordingIdPattern } from "#core/agent/RecordingName.ts"
import type { NewRecording, RecordingChanges, RecordingFilter, RecordingTicket } from "#core/recording/Recordings.ts"
import { id, instant, nullable, object, optional, orUndefined } from "#gateway/request/Field.ts"
import { oneOrMany } from "#gateway/request/validation.ts"
import { pageQuery } from "./Page.ts"
import { creator, creatorOf, fileName, mediaType, uploadUrl, uploadUrlOf } from "./ResourceFile.ts"

export const maxRecordingBytes = 10_485_760
/** Clients send it back to `/s3/signed-url`, which knows two words for it. */
const storageBackend = "s3"

export const RecordingPath = Type.Object({ recording_id: Type.String({ description: "Its `id` or its `recording_id`." }) })

const recordingId = Type.String({ pattern: recordingIdPattern, description: "The id by which prompts and contacts refer to it." })
const details = {
  workflow_id: optional(id<AgentId>("The agent that the recording was made for.")),
  tts_provider: optional(Type.String()),
  tts_model: optional(Type.String()),
  tts_voice_id: optional(Type.String())
}

export const RecordingListQuery = Type.Object({ ...details, ...pageQuery })

/** Most recordings in one request. */
const mostAtOnce = 50

const RecordingFile = Type.Object(
  {
    filename: fileName,
    mime_type: Type.String({
      ...mediaType,
      default: "audio/wav",
      description:
        "Calls play the first five minutes of WAV (PCM, float, mu-law, A-law) and MP3. The type is recognized from the content of the file."
    }),
    file_size: optional(Type.Integer({ minimum: 1, maximum: maxRecordingBytes })),
    workflow_id: details.workflow_id
  },
  { title: "RequestRecordingUpload" }
)
export type RecordingFile = Static<typeof RecordingFile>
export const RequestRecordingUpload = oneOrMany(
  "files",
  RecordingFile,
  Type.Object({ files: Type.Array(RecordingFile, { minItems: 1, maxItems: mostAtOnce }) }, { title: "RequestRecordingUploads" })
)

const OneRecordingUpload = Type.Object(
  {
    upload_url: uploadUrl,
    recording_id: Type.String(),
    storage_key: Type.String(),
    expires_in: Type.Integer({ description: "Seconds." })
  },
  { title: "RecordingUpload" }
)

export const RecordingUpload = Type.Union([
  OneRecordingUpload,
  Type.Object(
    { items: Type.Array(OneRecordingUpload, { description: "In the order of `files`." }) },
    { title: "RecordingUploads", description: "Of several files." }
  )
])

export const recordingUpload = (siteUrl: string, ticket: RecordingTicket): Static<typeof OneRecordingUpload> => ({
  upload_url: uploadUrlOf(siteUrl, ticket),
  recording_id: ticket.recordingId,
  storage_key: ticket.key,
  expires_in: ticket.expiresInSeconds
})

const NewRecordingWire = Type.Object(
  {
    recording_id: recordingId,
    storage_key: Type.String({ description: "The key that came with the upload URL." }),
    transcript: Type.String({ description: "The words that are spoken in the recording." }),
    ...details,
    metadata: optional(object())
  },
  { title: "CreateRecording" }
)
type NewRecordingWire = Static<typeof NewRecordingWire>
export const CreateRecording = oneOrMany(
  "recordings",
  NewRecordingWire,
  Type.Object(
    { recordings: Type.Array(NewRecordingWire, { minItems: 1, maxItems: mostAtOnce, description: "All of them are created, or none." }) },
    { title: "CreateRecordings" }
  )
)
export const UpdateRecording = Type.Object(
  {
    recording_id: optional(recordingId),
    transcript: optional(Type.String()),
    ...details,
    metadata: optional(object("Replaced as a whole."))
  },
  { title: "UpdateRecording", description: "Fields that are left out or null stay as they are." }
)

export const recordingFilterOf = (query: Omit<Static<typeof RecordingListQuery>, keyof Page>): RecordingFilter => ({
  agentId: orUndefined(query.workflow_id),
  ttsProvider: orUndefined(query.tts_provider),
  ttsModel: orUndefined(query.tts_model),
  ttsVoiceId: orUndefined(query.tts_voice_id)
})
export const newRecordingOf = (body: NewRecordingWire, createdBy: UserId | undefined): NewRecording => ({
  ...recordingFilterOf(body),
  recordingId: body.recording_id,
  storageKey: body.storage_key,
  transcript: body.transcript,
  metadata: orUndefined(body.metadata),
  createdBy
})
export const recordingChangesOf = (body: Static<typeof UpdateRecording>): RecordingChanges => ({
  ...recordingFilterOf(body),
  recordingId: orUndefined(body.recording_id),
  transcript: orUndefined(body.transcript),
  metadata: orUndefined(body.metadata)
})

export const RecordingWire = Type.Object(
  {
    id: id<RecordingId>(),
    recording_id: Type.String(),
    workflow_id: nullable(id<AgentId>()),
    organization_id: id<OrganizationId>(),
    tts_provider: nullable(Type.String()),
    tts_model: nullable(Type.String()),
    tts_voice_id: nullable(Type.String()),
    transcript: Type.String(),
    storage_key: Type.String({ description: "Get a URL for it from `/s3/signed-url`." }),
    storage_backend: Type.String(),
    metadata: object(),
    created_by: creator,
    created_at: instant(),
    is_active: Type.Boolean({ description: "Always true: deleted recordings are not listed." })
  },
  { title: "Recording" }
)

export const recordingWire = (recording: Recording): Static<typeof RecordingWire> => ({
  id: recording.id,
  recording_id: recording.recordingId,
  workflow_id: recording.agentId,
  organization_id: recording.organizationId,
  tts_provider: recording.ttsProvider,
  tts_model: recording.ttsModel,
  tts_voice_id: recording.ttsVoiceId,
  transcript: recording.transcript,
  storage_key: recording.storageKey,
  storage_backend: storageBackend,
  metadata: recording.metadata,
  created_by: creatorOf(recording.createdBy),
  created_at: recording.createdAt.toISOString(),
  is_active: true
})

export const RecordingsMade = Type.Union([
  RecordingWire,
  Type.Object({ recordings: Type.Array(RecordingWire) }, { title: "RecordingsMade", description: "Of several." })
])

export const RecordingList = Type.Object(
  { recordings: Type.Array(RecordingWire), total: Type.Integer({ description: "Number of recordings in this answer." }) },
  { title: "RecordingList" }
)
