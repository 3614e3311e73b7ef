/** /api/v1/workflow: tests of agents. */
import { Effect } from "effect"
import { AgentTests } from "#core/agent/regression/AgentTests.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { AgentPath } from "#gateway/wire/Agent.ts"
import { AgentTestedWire, agentTestedWire, TestAgent, testRequestOf } from "#gateway/wire/AgentTest.ts"
import { agentsTag } from "./workflow.ts"

export const workflowTestRoutes = tagged(agentsTag, [
  route({
    method: "post",
    path: "/api/v1/workflow/:workflow_id/tests",
    name: "testWorkflow",
    summary: "Test an agent with scripted callees",
    description:
      "Holds a conversation for each script, without a phone and without waiting, and says which of them came to what their scripts expect. Nobody is called, nothing is stored, and tools are not asked: they answer what the script says. What has not come to its end after 25 seconds has failed. One request at a time.",
    params: AgentPath,
    body: TestAgent,
    success: AgentTestedWire,
    errors: ["NotFound", "AgentInvalid", "CalleeScriptsRefused", "TooManyAgentTests"],
    handle: ({ body, caller, params }) =>
      AgentTests.use((_) => _.run(caller.organizationId, params.workflow_id, testRequestOf(body))).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) =>
          Effect.fail(
            new NotFound({
              detail: body.version_number === null ? `Workflow with id ${id} not found` : `Workflow with id ${id} has no such version`
            })
          )
        ),
        Effect.map(agentTestedWire)
      )
  })
])
