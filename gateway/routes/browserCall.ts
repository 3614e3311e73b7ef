/** POST /api/v1/workflow/{workflow_id}/runs: the run of a call from a browser. */
import { Effect } from "effect"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { CreatedRun, createdRun, CreateRun } from "#gateway/wire/BrowserCall.ts"
import { AgentRunsPath } from "#gateway/wire/Run.ts"

export const browserCallRoutes = tagged(
  { name: "Calls from a browser", about: "Talking to an agent in a browser, by WebRTC: nobody is dialed.", scope: "calls" },
  [
    route({
      method: "post",
      path: "/api/v1/workflow/:workflow_id/runs",
      name: "createWorkflowRun",
      summary: "Prepare a call from a browser",
      description:
        "Creates the run of a call that a page then makes over the websocket `/api/v1/ws/signaling/{workflow_id}/{run_id}`, once. Of the agent's draft, if there is one, and otherwise of the published version. 409 for an archived agent, or one without a version that calls can use.",
      params: AgentRunsPath,
      body: CreateRun,
      success: CreatedRun,
      errors: ["NotFound", "AgentArchived", "AgentUnpublished"],
      handle: ({ body: { name }, caller, params }) =>
        BrowserRuns.use((_) => _.create(caller.organizationId, { agentId: params.workflow_id, name })).pipe(
          Effect.map(createdRun),
          Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` })))
        )
    })
  ]
)
