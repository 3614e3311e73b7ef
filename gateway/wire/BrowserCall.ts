/** Calls from a browser. */
import Type, { type Static } from "typebox"
import { type BrowserRun, browserMode } from "#core/call/BrowserRun.ts"
import type { AgentDefinitionId, AgentId, RunId } from "#core/Id.ts"
import { id, instant, object } from "#gateway/request/Field.ts"

const longestName = 255

export const CreateRun = Type.Object(
  {
    mode: Type.Literal(browserMode, { description: "Calls by telephone have their own routes, which create their runs." }),
    name: Type.String({ minLength: 1, maxLength: longestName })
  },
  { title: "CreateWorkflowRun" }
)

export const CreatedRun = Type.Object(
  {
    id: id<RunId>(),
    workflow_id: id<AgentId>(),
    name: Type.String(),
    mode: Type.Literal(browserMode),
    created_at: instant(),
    definition_id: id<AgentDefinitionId>(),
    initial_context: object("The agent's template context variables, and the direction of the call.")
  },
  { title: "CreatedWorkflowRun" }
)

export const createdRun = (run: BrowserRun): Static<typeof CreatedRun> => ({
  id: run.id,
  workflow_id: run.agentId,
  name: run.name,
  mode: browserMode,
  created_at: run.createdAt.toISOString(),
  definition_id: run.definitionId,
  initial_context: { ...run.initialContext }
})
