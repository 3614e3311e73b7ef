/** Templates of agents, and the disposition codes of calls. */
import Type, { type Static } from "typebox"
import type { AgentTemplate } from "#core/agent/templates/AgentTemplate.ts"
import { instant } from "#gateway/request/Field.ts"
import { agentName, definition } from "./Agent.ts"

export const AgentTemplateWire = Type.Object(
  {
    id: Type.Integer(),
    template_name: Type.String(),
    template_description: Type.String(),
    template_json: definition,
    created_at: instant()
  },
  { title: "WorkflowTemplate" }
)

export const agentTemplateWire = (template: AgentTemplate): Static<typeof AgentTemplateWire> => ({
  id: template.id,
  template_name: template.name,
  template_description: template.description,
  template_json: template.definition,
  created_at: template.createdAt
})

export const UseTemplate = Type.Object({ template_id: Type.Integer(), workflow_name: agentName() }, { title: "UseWorkflowTemplate" })

const mostOfUseCase = 200
const mostOfActivity = 20_000
export const DescribeAgent = Type.Object(
  {
    call_type: Type.Enum(["inbound", "outbound"], { description: "Accepted and ignored: this engine places outbound calls only." }),
    use_case: Type.String({ minLength: 1, maxLength: mostOfUseCase }),
    activity_description: Type.String({ minLength: 1, maxLength: mostOfActivity, description: "Becomes part of its prompt." })
  },
  { title: "DescribeWorkflow" }
)

export const DispositionCodes = Type.Object(
  {
    codes: Type.Array(Type.String(), { description: "The engine's own codes, then the other dispositions of finished calls." }),
    end_task_reason_codes: Type.Array(Type.String(), { description: "The engine's own codes for the end of an answered call." })
  },
  { title: "DispositionCodes" }
)
