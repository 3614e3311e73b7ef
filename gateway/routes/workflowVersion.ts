/** /api/v1/workflow: the versions of agents. */
import { Effect } from "effect"
import Type from "typebox"
import type { AgentNotFound } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import { AgentPath } from "#gateway/wire/Agent.ts"
import { listedPart, pageOf } from "#gateway/wire/Page.ts"
import {
  AgentVersionWire,
  agentVersionWire,
  PublishedWire,
  publishedWire,
  ValidWire,
  versionPageOf,
  VersionQuery
} from "#gateway/wire/AgentVersion.ts"
import { agentsTag } from "./workflow.ts"

const notFound = ({ id }: AgentNotFound) => Effect.fail(new NotFound({ detail: `Workflow with id ${id} not found` }))

export const workflowVersionRoutes = tagged(agentsTag, [
  list({
    path: "/api/v1/workflow/:workflow_id/versions",
    isHeavy: true,
    name: "listWorkflowVersions",
    summary: "List an agent's versions, newest first",
    description: "Only as many as keep the answer small; the `Link` header leads to the rest.",
    params: AgentPath,
    query: VersionQuery,
    success: Type.Array(AgentVersionWire),
    errors: ["NotFound"],
    handle: ({ caller, params, query }) => {
      const page = versionPageOf(query)
      return Agents.use((_) => _.versions(caller.organizationId, params.workflow_id, pageOf(page))).pipe(
        Effect.catchTag("AgentNotFound", notFound),
        Effect.map((versions) => listedPart(page, versions, (shown) => shown.map(agentVersionWire)))
      )
    }
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/create-draft",
    name: "createWorkflowDraft",
    summary: "Create a draft from the published version",
    description:
      "Returns the existing draft, if there is one. From then on, changes go into the draft, and calls use the published version until the draft is published.",
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
    description: "Calls use it from then on. An unfinished graph is refused.",
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
    summary: "Check an agent before it is published",
    description:
      "Checks the draft or, without one, the published version. It also names the tools, documents, recordings and credentials that do not exist, and archived tools: they do not prevent publishing, and calls do without them.",
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
