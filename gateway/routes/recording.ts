/** /api/v1/workflow-recordings */
import { makerOf } from "#core/organization/LinkMakers.ts"
import { Effect } from "effect"
import { Recordings } from "#core/recording/Recordings.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import { listedPart, pageOf } from "#gateway/wire/Page.ts"
import {
  CreateRecording,
  maxRecordingBytes,
  newRecordingOf,
  recordingChangesOf,
  type RecordingFile,
  recordingFilterOf,
  RecordingList,
  RecordingListQuery,
  RecordingPath,
  RecordingsMade,
  RecordingUpload,
  recordingUpload,
  RecordingWire,
  recordingWire,
  RequestRecordingUpload,
  UpdateRecording
} from "#gateway/wire/Recording.ts"
import { Deleted } from "#gateway/wire/ResourceFile.ts"

export const recordingRoutes = tagged({ name: "Recordings", about: "Audio that agents play.", scope: "agents" }, [
  list({
    path: "/api/v1/workflow-recordings/",
    name: "listRecordings",
    summary: "List recordings, newest first",
    description: "What agents can play in place of a spoken text, of all agents or one.",
    query: RecordingListQuery,
    success: RecordingList,
    handle: ({ caller, query }) =>
      Recordings.use((_) => _.list(caller.organizationId, recordingFilterOf(query), pageOf(query))).pipe(
        Effect.map((recordings) =>
          listedPart(query, recordings, (shown) => ({ recordings: shown.map(recordingWire), total: shown.length }))
        )
      )
  }),
  route({
    method: "post",
    path: "/api/v1/workflow-recordings/upload-url",
    name: "requestRecordingUpload",
    summary: "Get a URL to upload a recording to",
    description:
      "Send the file to it with `PUT` within 30 minutes, without a credential. With `files`, one URL for each. 404 for an unknown agent, 409 if the organization's storage is full.",
    body: RequestRecordingUpload,
    success: RecordingUpload,
    errors: ["AgentNotFound", "QuotaFull"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const site = yield* Effect.flatMap(ServerInfo, ({ url }) => url)
        const uploadOf = ({ filename, mime_type, workflow_id }: RecordingFile) => {
          const file = { fileName: filename, mediaType: mime_type, maxBytes: maxRecordingBytes, maker: makerOf(caller) }
          return Recordings.use((_) => _.requestUpload(caller.organizationId, file, orUndefined(workflow_id))).pipe(
            Effect.map((ticket) => recordingUpload(site, ticket))
          )
        }
        return "files" in body ? { items: yield* Effect.forEach(body.files, uploadOf) } : yield* uploadOf(body)
      })
  }),
  route({
    method: "post",
    path: "/api/v1/workflow-recordings/",
    name: "createRecording",
    summary: "Create a recording from an upload",
    description:
      "The file must have been uploaded before, to a URL of `upload-url`: 404 if it was not, or if there is no such agent. Several at once are made all or none. 409 if an id is taken.",
    body: CreateRecording,
    success: RecordingsMade,
    errors: ["AgentNotFound", "UploadMissing", "RecordingIdTaken"],
    handle: ({ body, caller }) => {
      if (!("recordings" in body)) {
        return Recordings.use((_) => _.create(caller.organizationId, newRecordingOf(body, caller.userId))).pipe(Effect.map(recordingWire))
      }
      const wanted = body.recordings.map((one) => newRecordingOf(one, caller.userId))
      return Recordings.use((_) => _.createAll(caller.organizationId, wanted)).pipe(
        Effect.map((made) => ({ recordings: made.map(recordingWire) }))
      )
    }
  }),
  route({
    method: "patch",
    path: "/api/v1/workflow-recordings/:recording_id",
    name: "updateRecording",
    summary: "Change the metadata of a recording",
    description:
      "Its id, transcript and the agent that it belongs to; the sound stays. 404 if there is no such recording or agent, 409 if the new id is taken.",
    params: RecordingPath,
    body: UpdateRecording,
    success: RecordingWire,
    errors: ["RecordingNotFound", "AgentNotFound", "RecordingIdTaken"],
    handle: ({ body, caller, params }) =>
      Recordings.use((_) => _.update(caller.organizationId, params.recording_id, recordingChangesOf(body))).pipe(Effect.map(recordingWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/workflow-recordings/:recording_id",
    name: "deleteRecording",
    summary: "Delete a recording and its file",
    description:
      "The file is removed first, then the entry. 404 if there is no such recording; 503 while the store of files does not answer, and nothing is deleted.",
    params: RecordingPath,
    success: Deleted,
    errors: ["RecordingNotFound", "FilesAway"],
    handle: ({ caller, params }) =>
      Effect.gen(function* () {
        const { storageKey } = yield* Recordings.use((_) => _.get(caller.organizationId, params.recording_id))
        // First the file: if it cannot be removed, the recording still names it, and the request can be repeated.
        yield* FileStore.use((_) => _.remove(storageKey))
        yield* Recordings.use((_) => _.remove(caller.organizationId, params.recording_id))
        return { success: true as const, message: "Recording deleted successfully" }
        // A client that goes away must not leave the file behind.
      }).pipe(Effect.uninterruptible)
  })
])
