/** The record of a call, "workflow run" here, and lists of them. */
import Type, { type Static } from "typebox"
import type { AgentDefinitionId, AgentId, RunId } from "#core/Id.ts"
import type { Run } from "#core/run/Run.ts"
import type { RunPage, RunQuery } from "#core/run/Runs.ts"
import { id, instant, nullable, object, optional, orNull, orUndefined } from "./Field.ts"

export const RunPath = Type.Object({ workflow_id: id<AgentId>(), run_id: id<RunId>() })

export const RunListQuery = Type.Object({
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  filters: optional(Type.String({ description: 'JSON array of `{"attribute", "type", "value"}`; all must match.' })),
  sort_by: optional(Type.String({ description: "`duration`; anything else is the time of creation." })),
  sort_order: Type.String({ default: "desc", description: "`asc`; anything else is descending. Runs without a value come last." })
})

export const runQueryOf = (query: Static<typeof RunListQuery>): RunQuery => ({
  page: query.page,
  limit: query.limit,
  filters: orUndefined(query.filters),
  sortBy: orUndefined(query.sort_by),
  sortOrder: query.sort_order
})

export const RunWire = Type.Object(
  {
    id: id<RunId>(),
    workflow_id: id<AgentId>(),
    name: Type.String(),
    mode: Type.String(),
    created_at: instant(),
    is_completed: Type.Boolean(),
    transcript_url: nullable(Type.String({ description: "Storage key." })),
    recording_url: nullable(Type.String({ description: "Storage key." })),
    transcript_public_url: nullable(Type.String({ description: "Works without a credential, for an hour." })),
    recording_public_url: nullable(Type.String({ description: "Works without a credential, for an hour." })),
    public_access_token: nullable(Type.String()),
    cost_info: nullable(object()),
    usage_info: nullable(object()),
    definition_id: nullable(id<AgentDefinitionId>("The version of the agent that was on the call.")),
    initial_context: nullable(object()),
    gathered_context: nullable(object()),
    call_type: Type.Enum(["inbound", "outbound"]),
    logs: nullable(object()),
    annotations: nullable(object())
  },
  { title: "WorkflowRun" }
)

/** Addresses of the run's files for whoever has no credential. */
export interface PublicUrls {
  readonly transcript: string | null
  readonly recording: string | null
}

export const runWire = (run: Run, urls: PublicUrls): Static<typeof RunWire> => ({
  id: run.id,
  workflow_id: run.agentId,
  name: run.name,
  mode: run.mode,
  created_at: run.createdAt.toISOString(),
  is_completed: run.isCompleted,
  transcript_url: orNull(run.transcriptKey),
  recording_url: orNull(run.recordingKey),
  transcript_public_url: urls.transcript,
  recording_public_url: urls.recording,
  public_access_token: null,
  cost_info: orNull(run.costInfo),
  usage_info: orNull(run.usageInfo),
  definition_id: run.definitionId,
  initial_context: run.initialContext,
  gathered_context: orNull(run.gatheredContext),
  call_type: run.callType,
  logs: orNull(run.logs),
  annotations: orNull(run.annotations)
})

export const RunPageWire = Type.Object(
  {
    runs: Type.Array(RunWire),
    total_count: Type.Integer(),
    page: Type.Integer(),
    limit: Type.Integer(),
    total_pages: Type.Integer()
  },
  { title: "WorkflowRunPage" }
)

export const runPageWire = (page: RunPage, runs: Array<Static<typeof RunWire>>): Static<typeof RunPageWire> => ({
  runs,
  total_count: page.totalCount,
  page: page.page,
  limit: page.limit,
  total_pages: page.totalPages
})
