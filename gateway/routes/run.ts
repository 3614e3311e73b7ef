/** /api/v1/workflow/{workflow_id}/runs */
import { Effect } from "effect"
import type { Run } from "#core/run/Run.ts"
import { Runs } from "#core/run/Runs.ts"
import { FileLinks } from "../FileLinks.ts"
import { FileStore } from "../FileStore.ts"
import { NotFound } from "../Refusal.ts"
import { type Content, download, route, tagged } from "../Route.ts"
import { Site } from "../Site.ts"
import { RunPath, RunWire, runWire } from "../wire/Run.ts"

const publicSeconds = 3600

/** The runs as clients see them, with addresses of their files that work without a credential for a while. */
export const publicRuns = Effect.fnUntraced(function* (runs: ReadonlyArray<Run>) {
  const site = yield* Effect.flatMap(Site, ({ url }) => url)
  const links = yield* FileLinks
  const linkTo = (key: string | undefined) =>
    key === undefined
      ? Effect.succeed(null)
      : Effect.map(links.make({ key, seconds: publicSeconds, isInline: true }), (path) => `${site}${path}`)
  return yield* Effect.forEach(runs, (run) =>
    Effect.map(Effect.all([linkTo(run.transcriptKey), linkTo(run.recordingKey)]), ([transcript, recording]) =>
      runWire(run, { transcript, recording })
    )
  )
})

const artifact = Effect.fnUntraced(function* (key: string | undefined, mediaType: string, name: string) {
  const missing = Effect.fail(new NotFound({ detail: `No ${name} available for this workflow run` }))
  if (key === undefined) return yield* missing
  const file = yield* FileStore.use((_) => _.find(key)).pipe(Effect.catchTag("FileMissing", () => missing))
  const content: Content = { mediaType, fileName: key.split("/").at(-1), body: file }
  return content
})

export const runRoutes = tagged("Runs", [
  route({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id",
    name: "getRun",
    summary: "Read the record of a call",
    params: RunPath,
    success: RunWire,
    errors: ["RunNotFound"],
    handle: ({ caller, params }) =>
      Effect.gen(function* () {
        const run = yield* Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id))
        const [wire] = yield* publicRuns([run])
        return wire ?? runWire(run, { transcript: null, recording: null })
      })
  }),
  download({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id/transcript",
    name: "getRunTranscript",
    summary: "What was said and typed, with times",
    params: RunPath,
    mediaTypes: ["text/plain"],
    errors: ["RunNotFound", "NotFound"],
    handle: ({ caller, params }) =>
      Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.flatMap((run) => artifact(run.transcriptKey, "text/plain; charset=utf-8", "transcript"))
      )
  }),
  download({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/runs/:run_id/recording",
    name: "getRunRecording",
    summary: "The recorded call, callee left and agent right",
    params: RunPath,
    mediaTypes: ["audio/wav"],
    errors: ["RunNotFound", "NotFound"],
    handle: ({ caller, params }) =>
      Runs.use((_) => _.get(caller.organizationId, params.workflow_id, params.run_id)).pipe(
        Effect.flatMap((run) => artifact(run.recordingKey, "audio/wav", "recording"))
      )
  })
])
