/** `/workflow`: a voice agent is called "workflow" here. */
import Type, { type Static } from "typebox"
import type { Agent, AgentStatus, AgentSummary } from "#core/agent/Agent.ts"
import type { AgentChanges, NewAgent } from "#core/agent/Agents.ts"
import type { AgentDefinitionId, AgentId } from "#core/Id.ts"
import { id, instant, nullable, object, optional, orUndefined } from "./Field.ts"

export const AgentPath = Type.Object({ workflow_id: id<AgentId>() })

export const agentStatuses: ReadonlyArray<AgentStatus> = ["active", "archived"]
const AgentStatusWire = Type.Enum(["active", "archived"])
const definition = object("The graph: `nodes`, `edges`, and whatever else an editor keeps in it.")

export const CreateAgent = Type.Object({ name: Type.String(), workflow_definition: definition }, { title: "CreateWorkflow" })
export const UpdateAgent = Type.Object(
  {
    name: optional(Type.String()),
    workflow_definition: optional(definition),
    template_context_variables: optional(object("Name to value, for test calls only.")),
    workflow_configurations: optional(object("Replaced as a whole."))
  },
  { title: "UpdateWorkflow", description: "What is left out, or null, stays as it is." }
)
export const SetAgentStatus = Type.Object({ status: AgentStatusWire }, { title: "SetWorkflowStatus" })

export const newAgentOf = (body: Static<typeof CreateAgent>): NewAgent => ({ name: body.name, definition: body.workflow_definition })
export const agentChangesOf = (body: Static<typeof UpdateAgent>): AgentChanges => ({
  name: orUndefined(body.name),
  definition: orUndefined(body.workflow_definition),
  configurations: orUndefined(body.workflow_configurations),
  templateContextVariables: orUndefined(body.template_context_variables)
})

export const AgentListItem = Type.Object(
  {
    id: id<AgentId>(),
    name: Type.String(),
    status: AgentStatusWire,
    created_at: instant(),
    total_runs: Type.Integer(),
    folder_id: nullable(Type.Integer()),
    workflow_uuid: Type.String({ format: "uuid" })
  },
  { title: "WorkflowListItem" }
)

export const agentListItem = (agent: AgentSummary): Static<typeof AgentListItem> => ({
  id: agent.id,
  name: agent.name,
  status: agent.status,
  created_at: agent.createdAt.toISOString(),
  total_runs: agent.totalRuns,
  folder_id: null,
  workflow_uuid: agent.workflowUuid
})

export const AgentWire = Type.Object(
  {
    id: id<AgentId>(),
    name: Type.String(),
    status: AgentStatusWire,
    created_at: instant(),
    workflow_definition: definition,
    current_definition_id: id<AgentDefinitionId>(),
    template_context_variables: object(),
    call_disposition_codes: Type.Object({ disposition_codes: Type.Array(Type.String()) }),
    total_runs: Type.Integer(),
    workflow_configurations: object(),
    version_number: Type.Integer(),
    version_status: Type.Enum(["draft", "published", "archived"]),
    workflow_uuid: Type.String({ format: "uuid" })
  },
  { title: "Workflow" }
)

export const agentWire = (agent: Agent): Static<typeof AgentWire> => ({
  id: agent.id,
  name: agent.name,
  status: agent.status,
  created_at: agent.createdAt.toISOString(),
  workflow_definition: agent.definition,
  current_definition_id: agent.currentDefinitionId,
  template_context_variables: agent.templateContextVariables,
  call_disposition_codes: { disposition_codes: [...agent.dispositionCodes] },
  total_runs: agent.totalRuns,
  workflow_configurations: agent.configurations,
  version_number: agent.versionNumber,
  version_status: agent.versionStatus,
  workflow_uuid: agent.workflowUuid
})
