/** `/workflow`: a voice agent is called "workflow" in the API. */
import Type, { type Static } from "typebox"
import type { Agent, AgentStatus, AgentSummary } from "#core/agent/Agent.ts"
import type { AgentChanges, NewAgent } from "#core/agent/AgentEditing.ts"
import { masked } from "#core/model/ModelSecrets.ts"
import type { FolderId } from "#core/folder/Folder.ts"
import type { AgentDefinitionId, AgentId } from "#core/Id.ts"
import { id, instant, nullable, object, optional, orUndefined } from "#gateway/request/Field.ts"

export const AgentPath = Type.Object({ workflow_id: id<AgentId>() })

export const agentStatuses: ReadonlyArray<AgentStatus> = ["active", "archived"]
const AgentStatusWire = Type.Enum(["active", "archived"])
export const VersionStatusWire = Type.Enum(["draft", "published", "archived"])
export const definition = object("The graph: `nodes`, `edges`, and whatever else an editor keeps in it.")

/** Bounded, because lists hold a thousand names; generous, because copies of copies have long names. */
export const agentName = () => Type.String({ maxLength: 1000 })

const configurationsText =
  "Settings outside the graph. `voicemail_detection` is `{enabled, action, message}`. `action` is what the agent does when a machine answers: " +
  "`hangup` (the default), `leave_message` (waits for the beep or for three seconds of silence, says `message`, which may contain variables like a " +
  "greeting, and hangs up) or `continue` (goes on as with a person). The run records `answered_by`, and for a message `voicemail_message`: `left`, " +
  "`cut` or `not_left`. A contact for whom a message was `left` is not called again. `static_lines` are what the agent says when no model can be " +
  "asked, English by default: `filler` (while something takes long), `reprompt`, `check_in`, `goodbye` and `apology`. `send_dtmf: true` lets the " +
  "model press keys. `max_user_idle_timeout` counts from 1 to 600 seconds. `embedded` is for the model that is built in: `nodes` (by id: `say`), " +
  "`edges` (by id: `phrases` that lead along it, its key `dtmf`, whether to `confirm` it), `fallback_edge` and `introduction`."

export const CreateAgent = Type.Object(
  {
    name: agentName(),
    workflow_definition: definition,
    template_context_variables: optional(object("Name to value, for test calls only.")),
    workflow_configurations: optional(object(configurationsText))
  },
  { title: "CreateWorkflow" }
)
export const UpdateAgent = Type.Object(
  {
    name: optional(agentName()),
    workflow_definition: optional(definition),
    template_context_variables: optional(object("Name to value, for test calls only.")),
    workflow_configurations: optional(object(`Replaced as a whole. ${configurationsText}`))
  },
  {
    title: "UpdateWorkflow",
    description:
      "Fields that are left out or null stay as they are. A secret sent back in its masked form is kept as long as its provider is not changed."
  }
)
export const SetAgentStatus = Type.Object({ status: AgentStatusWire }, { title: "SetWorkflowStatus" })
export const SetAgentFolder = Type.Object(
  { folder_id: optional(id<FolderId>()) },
  { title: "SetWorkflowFolder", description: "Null takes the agent out of its folder." }
)

export const newAgentOf = (body: Static<typeof CreateAgent>): NewAgent => ({
  name: body.name,
  definition: body.workflow_definition,
  configurations: orUndefined(body.workflow_configurations),
  templateContextVariables: orUndefined(body.template_context_variables)
})
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
    folder_id: nullable(id<FolderId>()),
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
  folder_id: agent.folderId,
  workflow_uuid: agent.workflowUuid
})

export const AgentName = Type.Object({ id: id<AgentId>(), name: Type.String() }, { title: "WorkflowName" })
export const AgentCountWire = Type.Object(
  { total: Type.Integer(), active: Type.Integer(), archived: Type.Integer() },
  { title: "WorkflowCount" }
)

export const AgentWire = Type.Object(
  {
    id: id<AgentId>(),
    name: Type.String(),
    status: AgentStatusWire,
    created_at: instant(),
    workflow_definition: definition,
    current_definition_id: nullable(id<AgentDefinitionId>("The published version; null until the graph is complete.")),
    template_context_variables: object(),
    call_disposition_codes: Type.Object(
      { disposition_codes: Type.Array(Type.String()) },
      { title: "CallDispositionCodes", description: "Dispositions of the agent's finished calls." }
    ),
    total_runs: Type.Integer(),
    workflow_configurations: object(),
    version_number: Type.Integer(),
    version_status: VersionStatusWire,
    workflow_uuid: Type.String({ format: "uuid" })
  },
  { title: "Workflow" }
)

export const agentWire = (agent: Agent): Static<typeof AgentWire> => ({
  id: agent.id,
  name: agent.name,
  status: agent.status,
  created_at: agent.createdAt.toISOString(),
  workflow_definition: masked(agent.definition),
  current_definition_id: agent.currentDefinitionId,
  template_context_variables: agent.templateContextVariables,
  call_disposition_codes: { disposition_codes: [...agent.dispositionCodes] },
  total_runs: agent.totalRuns,
  workflow_configurations: masked(agent.configurations),
  version_number: agent.versionNumber,
  version_status: agent.versionStatus,
  workflow_uuid: agent.workflowUuid
})
