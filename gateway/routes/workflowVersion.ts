/** /api/v1/workflow: the versions of agents. */
import { Effect } from "effect"
import Type from "typebox"
import type { AgentNotFound } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { NotFound } from "../Refusal.ts"
import { route, tagged } from "../Route.ts"
import { AgentPath } from "../wire/Agent.ts"
import {
  AgentVersionWire,
  agentVersionWire,
  PublishedWire,
  publishedWire,
  ValidWire,
  versionPageOf,
  VersionQuery
} from "../wire/AgentVersion.ts"

const notFound = ({ id }: AgentNotFound) => Effect.fail(new NotFound({ detail: `Workflow with id ${id} not found` }))

export const workflowVersionRoutes = tagged("Agents", [
  route({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/versions",
    name: "listWorkflowVersions",
    summary: "List an agent's versions, newest first",
    params: AgentPath,
    query: VersionQuery,
    success: Type.Array(AgentVersionWire),
    errors: ["NotFound"],
    handle: ({ caller, params, query }) =>
      Agents.use((_) => _.versions(caller.organizationId, params.workflow_id, versionPageOf(query))).pipe(
        Effect.catchTag("AgentNotFound", notFound),
        Effect.map((versions) => versions.map(agentVersionWire))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/create-draft",
    name: "createWorkflowDraft",
    summary: "Make a draft of the published version",
    description:
      "Or read the draft that there is. From then on changes go into the draft, and calls use the published version until it is published.",
    params: AgentPath,
    success: AgentVersionWire,
    errors: ["NotFound"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.createDraft(caller.organizationId, params.workflow_id)).pipe(
        Effect.catchTag("AgentNotFound", notFound),
        Effect.map(agentVersionWire)
      )
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/publish",
    name: "publishWorkflow",
    summary: "Publish the draft",
    description: "Calls use it from then on. A graph that is not finished is refused.",
    params: AgentPath,
    success: PublishedWire,
    errors: ["NotFound", "AgentDraftMissing", "AgentInvalid"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.publish(caller.organizationId, params.workflow_id)).pipe(
        Effect.catchTag("AgentNotFound", notFound),
        Effect.map(publishedWire)
      )
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/validate",
    name: "validateWorkflow",
    summary: "Check whether an agent could be published",
    description: "The draft, or without one the published version.",
    params: AgentPath,
    success: ValidWire,
    errors: ["NotFound", "AgentInvalid"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.validate(caller.organizationId, params.workflow_id)).pipe(
        Effect.catchTag("AgentNotFound", notFound),
        Effect.as({ is_valid: true as const, errors: [] })
      )
  })
])
