/** /api/v1/workflow/{workflow_id}/runs */
import { Effect } from "effect"
import { transcriptOf } from "#core/chat/ChatTurns.ts"
import { textChatMode } from "#core/chat/TextChat.ts"
import type { Run } from "#core/run/Run.ts"
import { Runs } from "#core/run/Runs.ts"
import { Retentions } from "#core/file/Retentions.ts"
import { FileStore } from "#gateway/ports/FileStore.ts"
import { keptFile, mediaTypeOf } from "#gateway/file/keptFile.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { type Content, download, route, tagged, type Tag } from "#gateway/request/Route.ts"
import { publicUrls } from "#gateway/file/publicFiles.ts"
import { Changed, changed } from "#gateway/wire/ApiKey.ts"
import {
  AgentRunPageWire,
  agentRunPageWire,
  AgentRunsPath,
  RunListQuery,
  RunPath,
  runQueryOf,
  RunWire,
  runWire
} from "#gateway/wire/Run.ts"

/** Converts runs to the form that clients see. */
export const publicRuns = (runs: ReadonlyArray<Run>) =>
  Effect.forEach(runs, (run) => Effect.map(publicUrls(run), (urls) => runWire(run, urls)))

const artifact = Effect.fnUntraced(function* (key: string | undefined, name: string) {
  const missing = Effect.fail(new NotFound({ detail: `No ${name} available for this workflow run` }))
  if (key === undefined) return yield* missing
  const { file, key: kept } = yield* keptFile(key).pipe(Effect.catchTag("FileMissing", () => missing))
  const content: Content = { mediaType: mediaTypeOf(kept), fileName: kept.split("/").at(-1), body: file }
  return content
})

/** What was written in a text chat is in its record, not in a file. */
const transcriptContent = ({ id }: Run, body: string): Content => ({ mediaType: "text/plain", fileName: `${id}.txt`, body })

export const runsTag: Tag = { name: "Runs", about: "The record of each call." }

export const runRoutes = tagged(runsTag, [
  route({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs",
    name: "listWorkflowRuns",
    summary: "List the calls of an agent",
    description:
      "Each with its disposition and links to its files. Empty for an agent that does not exist; 400 for a filter or an order that does not exist.",
    params: AgentRunsPath,
    query: RunListQuery,
    success: AgentRunPageWire,
    errors: ["RunFilterInvalid", "RunAttributeRefused"],
    handle: ({ caller, params, query }) =>
      Effect.gen(function* () {
        const page = yield* Runs.use((_) => _.listOfAgent(caller.organizationId, params.workflow_id, runQueryOf(query)))
        return agentRunPageWire(page, yield* publicRuns(page.runs), query.filters)
      })
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id",
    name: "getRun",
    summary: "Read the record of a call",
    description:
      "What came of the call, what was gathered in it, its cost, its log, and URLs of its recording and transcript. 404 unless the run belongs to this agent.",
    params: RunPath,
    success: RunWire,
    errors: ["RunNotFound"],
    handle: ({ caller, params }) =>
      Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.flatMap((run) => Effect.map(publicUrls(run), (urls) => runWire(run, urls)))
      )
  }),
  download({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id/transcript",
    name: "getRunTranscript",
    summary: "Read what was said and typed in a call, with times",
    description:
      "One line for each turn. 404 until it has been written after the call, and once it has been deleted; 503 while the store of files does not answer. Reading it is noted in the audit log.",
    params: RunPath,
    notes: "run_id",
    mediaTypes: ["text/plain"],
    errors: ["RunNotFound", "NotFound", "FilesAway"],
    handle: ({ caller, params }) =>
      Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.flatMap((run) => {
          const written = run.mode === textChatMode ? transcriptOf(run.logs ?? {}) : undefined
          return written === undefined ? artifact(run.transcriptKey, "transcript") : Effect.succeed(transcriptContent(run, written))
        })
      )
  }),
  download({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id/recording",
    name: "getRunRecording",
    summary: "Download the recording of a call, callee left and agent right",
    description:
      "In the format that was set for the organization when the call took place. 404 if the call was not recorded, and once the recording has been deleted; 503 while the store of files does not answer. Reading it is noted in the audit log.",
    params: RunPath,
    notes: "run_id",
    mediaTypes: ["audio/wav", "audio/ogg"],
    errors: ["RunNotFound", "NotFound", "FilesAway"],
    handle: ({ caller, params }) =>
      Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.flatMap((run) => artifact(run.recordingKey, "recording"))
      )
  }),
  route({
    method: "delete",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id/artifacts",
    name: "deleteRunArtifacts",
    summary: "Delete the recording and the transcript of a call",
    description: "Also deletes quotations of the call from its record. The record itself stays.",
    needs: "admin",
    params: RunPath,
    success: Changed,
    errors: ["RunNotFound", "RunNotCompleted", "FilesAway"],
    handle: ({ caller: { organizationId }, params }) =>
      Effect.gen(function* () {
        const files = yield* FileStore
        const run = { organizationId, agentId: params.workflow_id, id: params.run_id }
        yield* Retentions.use((_) => _.removeArtifacts(run, files.remove))
        return changed("Recording and transcript deleted")
      })
  })
])
