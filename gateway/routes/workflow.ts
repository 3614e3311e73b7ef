/** /api/v1/workflow: agents. */
import { Effect } from "effect"
import Type, { type Static } from "typebox"
import { mostCharacters, mostValues } from "#core/agent/AgentSize.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import { Agents } from "#core/agent/Agents.ts"
import { allCodes, endReasons } from "#core/agent/Disposition.ts"
import type { AgentId } from "#core/Id.ts"
import { listFilter } from "#gateway/request/listFilter.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { list, route, tagged, type Tag } from "#gateway/request/Route.ts"
import {
  agentChangesOf,
  AgentCountWire,
  AgentListItem,
  agentListItem,
  AgentName,
  AgentPath,
  agentStatuses,
  AgentWire,
  agentWire,
  CreateAgent,
  newAgentOf,
  SetAgentFolder,
  SetAgentStatus,
  UpdateAgent
} from "#gateway/wire/Agent.ts"
import { AgentTemplateWire, agentTemplateWire, DescribeAgent, DispositionCodes, UseTemplate } from "#gateway/wire/AgentTemplate.ts"
import { id, optional, orUndefined } from "#gateway/request/Field.ts"
import { listedById, pageOf, pageQuery } from "#gateway/wire/Page.ts"

const FetchQuery = Type.Object({
  status: optional(Type.String({ description: "`active`, `archived`, or both, separated by a comma." })),
  ...pageQuery,
  after: optional(id<AgentId>("The last agent of the previous page."))
})

const selectionOf = (query: Static<typeof FetchQuery>) =>
  Effect.map(statusesOf(orUndefined(query.status)), (statuses) => ({
    ...pageOf(query),
    after: orUndefined(query.after),
    ...(statuses === undefined ? {} : { statuses })
  }))

const statusesOf = listFilter("workflow status", agentStatuses)

/** Room for a graph with the prompts of all its nodes. */
const agentSize = { maxBytes: mostCharacters, maxValues: mostValues }

export const agentsTag: Tag = { name: "Agents", about: "What an agent says in a call: a graph of nodes, in versions.", scope: "agents" }

export const workflowRoutes = tagged(agentsTag, [
  route({
    method: "post",
    path: "/api/v1/workflow/create/definition",
    name: "createWorkflow",
    summary: "Create an agent",
    description: "Publishes version 1. If the graph is not finished, the agent is a draft instead, and cannot be called with.",
    body: CreateAgent,
    bodySize: agentSize,
    success: AgentWire,
    errors: ["AgentDefinitionRefused", "AgentConfigurationsRefused", "AgentTriggerTaken", "QuotaFull"],
    handle: ({ body, caller }) => Agents.use((_) => _.create(caller.organizationId, newAgentOf(body))).pipe(Effect.map(agentWire))
  }),
  list({
    path: "/api/v1/workflow/fetch",
    name: "listWorkflows",
    summary: "List agents",
    description:
      "Archived agents only if `status` asks for them. 422 for a status that does not exist. Definitions are left out: read one agent for its graph.",
    query: FetchQuery,
    success: Type.Array(AgentListItem),
    errors: ["Unprocessable"],
    handle: ({ caller, query }) =>
      selectionOf(query).pipe(
        Effect.flatMap((selection) => Agents.use((_) => _.list(caller.organizationId, selection))),
        Effect.map((agents) => listedById(query, agents, (shown) => shown.map(agentListItem)))
      )
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/fetch/:workflow_id",
    name: "getWorkflow",
    summary: "Read an agent",
    description: "Shows the agent as it is being edited: the draft, if there is one.",
    params: AgentPath,
    success: AgentWire,
    errors: ["NotFound"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.getLatest(caller.organizationId, params.workflow_id)).pipe(
        Effect.mapBoth({ onSuccess: agentWire, onFailure: ({ id }) => new NotFound({ detail: `Workflow with id ${id} not found` }) })
      )
  }),
  route({
    method: "put",
    path: "/api/v1/workflow/:workflow_id",
    name: "updateWorkflow",
    summary: "Change an agent",
    description:
      "A change of anything but the name creates a new version, which calls use from then on. If there is a draft, the change goes into the draft. An unfinished graph (`validate` says what it lacks) is also kept as a draft, until a finished one replaces it; calls continue to use the published version.",
    params: AgentPath,
    body: UpdateAgent,
    bodySize: agentSize,
    success: AgentWire,
    errors: ["NotFound", "AgentDefinitionRefused", "AgentConfigurationsRefused", "AgentTriggerTaken"],
    handle: ({ body, caller, params }) =>
      Agents.use((_) => _.update(caller.organizationId, params.workflow_id, agentChangesOf(body))).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` }))),
        Effect.map(agentWire)
      )
  }),
  route({
    method: "put",
    path: "/api/v1/workflow/:workflow_id/status",
    name: "setWorkflowStatus",
    summary: "Archive or reactivate an agent",
    description: "An archived agent places no calls; its running campaigns are paused. 404 for an agent of another organization.",
    params: AgentPath,
    body: SetAgentStatus,
    success: AgentWire,
    errors: ["NotFound", "StopUnconfirmed"],
    handle: ({ body, caller, params }) =>
      Agents.use((_) => _.setStatus(caller.organizationId, params.workflow_id, body.status)).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` }))),
        Effect.map(agentWire)
      )
  }),
  list({
    path: "/api/v1/workflow/summary",
    name: "listWorkflowNames",
    summary: "List the names of agents",
    description: "Only ids and names, for a field in which an agent is chosen. Filtered as the list of agents is.",
    query: FetchQuery,
    success: Type.Array(AgentName),
    errors: ["Unprocessable"],
    handle: ({ caller, query }) =>
      selectionOf(query).pipe(
        Effect.flatMap((selection) => Agents.use((_) => _.names(caller.organizationId, selection))),
        Effect.map((agents) => listedById(query, agents, (shown) => shown.map(({ id, name }) => ({ id, name }))))
      )
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/count",
    name: "countWorkflows",
    summary: "Count agents",
    description: "All of them, those that are active, and those that are archived.",
    success: AgentCountWire,
    handle: ({ caller }) => Agents.use((_) => _.count(caller.organizationId))
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/duplicate",
    isHeavy: true,
    name: "duplicateWorkflow",
    summary: "Copy an agent",
    description:
      "Copies the agent as it is being edited, with its settings, into the same folder. The API triggers of the copy get paths of their own.",
    params: AgentPath,
    success: AgentWire,
    errors: ["NotFound", "AgentDefinitionRefused", "QuotaFull"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.duplicate(caller.organizationId, params.workflow_id)).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with id ${id} not found` }))),
        Effect.map(agentWire)
      )
  }),
  route({
    method: "put",
    path: "/api/v1/workflow/:workflow_id/folder",
    name: "setWorkflowFolder",
    summary: "Move an agent into or out of a folder",
    description:
      "`null` takes it out of its folder. Nothing else changes, and no version is made. 404 if there is no such agent or folder in the organization.",
    params: AgentPath,
    body: SetAgentFolder,
    success: AgentListItem,
    errors: ["NotFound", "FolderNotFound"],
    handle: ({ body, caller, params }) =>
      Agents.use((_) => _.setFolder(caller.organizationId, params.workflow_id, body.folder_id)).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` }))),
        Effect.map(agentListItem)
      )
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/templates",
    name: "listWorkflowTemplates",
    summary: "List agent templates",
    description: "Finished agents to begin with, each with its whole definition. They are part of the engine and the same for everybody.",
    access: "none",
    success: Type.Array(AgentTemplateWire),
    handle: () => Effect.succeed(agentTemplates.map(agentTemplateWire))
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/templates/duplicate",
    name: "useWorkflowTemplate",
    summary: "Create an agent from a template",
    description:
      "The agent is the organization's own copy, which later changes of the template do not reach. Its `template_context_variables` have sample values for what contacts bring. 404 for an unknown template; 409 if the organization may have no further agent, or the path of a trigger is taken.",
    body: UseTemplate,
    success: AgentWire,
    errors: ["NotFound", "AgentDefinitionRefused", "AgentTriggerTaken", "QuotaFull"],
    handle: ({ body, caller }) => {
      const template = agentTemplates.find(({ id }) => id === body.template_id)
      if (template === undefined) return Effect.fail(new NotFound({ detail: `Workflow template with id ${body.template_id} not found` }))
      const { definition, sampleContext: templateContextVariables } = template
      return Agents.use((_) => _.create(caller.organizationId, { name: body.workflow_name, definition, templateContextVariables })).pipe(
        Effect.catchTag("AgentConfigurationsRefused", Effect.die),
        Effect.map(agentWire)
      )
    }
  }),
  route({
    method: "post",
    path: "/api/v1/workflow/create/template",
    name: "describeWorkflow",
    summary: "Create an agent from a description",
    description:
      "Uses the most similar template, with the description in its prompt. The agent is named after `use_case`, with a number if another agent has that name. Fields that the template takes from contacts get placeholder texts, so that any list will do. 409 if the organization may have no further agent.",
    body: DescribeAgent,
    success: AgentWire,
    errors: ["QuotaFull"],
    handle: ({ body, caller }) =>
      Agents.use((_) => _.describe(caller.organizationId, { useCase: body.use_case, activity: body.activity_description })).pipe(
        Effect.map(agentWire)
      )
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/disposition-codes",
    name: "listDispositionCodes",
    summary: "List the disposition codes of calls",
    description:
      "The codes that the engine sets, and those that finished calls of the organization have had. For filters of runs and for retry rules.",
    success: DispositionCodes,
    handle: ({ caller }) =>
      Agents.use((_) => _.dispositionCodes(caller.organizationId)).pipe(
        Effect.map((learned) => ({ codes: [...allCodes(learned)], end_task_reason_codes: [...endReasons] }))
      )
  })
])
