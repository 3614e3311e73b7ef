/** /api/v1/workflow: agents. */
import { Effect } from "effect"
import Type from "typebox"
import type { AgentStatus } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { NotFound, Unprocessable } from "../Refusal.ts"
import { route, tagged } from "../Route.ts"
import {
  agentChangesOf,
  AgentListItem,
  agentListItem,
  AgentPath,
  agentStatuses,
  AgentWire,
  agentWire,
  CreateAgent,
  newAgentOf,
  SetAgentStatus,
  UpdateAgent
} from "../wire/Agent.ts"
import { optional, orUndefined } from "../wire/Field.ts"

const FetchQuery = Type.Object({ status: optional(Type.String({ description: "`active`, `archived`, or both with a comma between." })) })

const isStatus = (word: string): word is AgentStatus => agentStatuses.some((status) => status === word)
const quoted = (words: ReadonlyArray<string>): string => `[${words.map((word) => `'${word}'`).join(", ")}]`

const statusesOf = (filter: string | undefined): Effect.Effect<ReadonlyArray<AgentStatus> | undefined, Unprocessable> => {
  if (filter === undefined) return Effect.succeed(undefined)
  const words = filter.split(",").map((word) => word.trim())
  const unknown = words.filter((word) => !isStatus(word)).map((word) => (word === "" ? "<empty>" : word))
  return unknown.length === 0
    ? Effect.succeed(words.filter(isStatus))
    : Effect.fail(
        new Unprocessable({ detail: `Invalid workflow status filter: ${quoted(unknown)}. Allowed values: ${quoted(agentStatuses)}.` })
      )
}

export const workflowRoutes = tagged("Agents", [
  route({
    method: "post",
    path: "/api/v1/workflow/create/definition",
    name: "createWorkflow",
    summary: "Create an agent",
    body: CreateAgent,
    success: AgentWire,
    errors: ["AgentDefinitionRefused"],
    handle: ({ body, caller }) => Agents.use((_) => _.create(caller.organizationId, newAgentOf(body))).pipe(Effect.map(agentWire))
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/fetch",
    name: "listWorkflows",
    summary: "List agents",
    query: FetchQuery,
    success: Type.Array(AgentListItem),
    errors: ["Unprocessable"],
    handle: ({ caller, query }) =>
      statusesOf(orUndefined(query.status)).pipe(
        Effect.flatMap((statuses) => Agents.use((_) => _.list(caller.organizationId, statuses))),
        Effect.map((agents) => agents.map(agentListItem))
      )
  }),
  route({
    method: "get",
    path: "/api/v1/workflow/fetch/:workflow_id",
    name: "getWorkflow",
    summary: "Read an agent",
    params: AgentPath,
    success: AgentWire,
    errors: ["NotFound"],
    handle: ({ caller, params }) =>
      Agents.use((_) => _.get(caller.organizationId, params.workflow_id)).pipe(
        Effect.mapBoth({ onSuccess: agentWire, onFailure: ({ id }) => new NotFound({ detail: `Workflow with id ${id} not found` }) })
      )
  }),
  route({
    method: "put",
    path: "/api/v1/workflow/:workflow_id",
    name: "updateWorkflow",
    summary: "Change an agent",
    description: "A change of anything but the name makes a new version, which calls use from then on.",
    params: AgentPath,
    body: UpdateAgent,
    success: AgentWire,
    errors: ["NotFound", "AgentDefinitionRefused"],
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
    summary: "Archive an agent, or make it active again",
    description: "An archived agent gets no calls; its running campaigns are paused.",
    params: AgentPath,
    body: SetAgentStatus,
    success: AgentWire,
    errors: ["NotFound"],
    handle: ({ body, caller, params }) =>
      Agents.use((_) => _.setStatus(caller.organizationId, params.workflow_id, body.status)).pipe(
        Effect.mapBoth({ onSuccess: agentWire, onFailure: ({ id }) => new NotFound({ detail: `Workflow with ID ${id} not found` }) })
      )
  })
])
