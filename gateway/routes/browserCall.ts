/** Calls from a browser: POST /api/v1/workflow/{workflow_id}/runs, /api/v1/ws/signaling, /api/v1/turn/credentials. */
import { Clock, Effect } from "effect"
import Type from "typebox"
import { BrowserCalls } from "#core/call/BrowserCalls.ts"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { TurnServers } from "#core/call/TurnServers.ts"
import { NotFound, UpgradeRequired } from "#gateway/request/Refusal.ts"
import { signalingPath } from "#gateway/browser/signaling.ts"
import { optional } from "#gateway/request/Field.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { CreatedRun, createdRun, CreateRun } from "#gateway/wire/BrowserCall.ts"
import { AgentRunsPath, RunPath } from "#gateway/wire/Run.ts"
import { DownFrame } from "#gateway/wire/Signaling.ts"
import { TurnCredentialsWire, turnCredentialsWire } from "#gateway/wire/Turn.ts"

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
          // An engine that may make no calls has no voice to get ready.
          Effect.tap((run) => Effect.ignoreCause(BrowserCalls.use((_) => _.expect(caller.organizationId, run)))),
          Effect.map(createdRun),
          Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` })))
        )
    }),
    route({
      method: "get",
      path: "/api/v1/turn/credentials",
      name: "getTurnCredentials",
      summary: "Get credentials of the TURN server",
      description:
        "For the connection of a call from a browser. They are valid for a day. 404 if the operator has named no TURN server, which `turn_enabled` of `/api/v1/health` tells.",
      needs: "member",
      success: TurnCredentialsWire,
      errors: ["NotFound"],
      handle: ({ caller: { organizationId } }) =>
        Effect.gen(function* () {
          const { credentials } = yield* TurnServers
          const made = credentials(`organization-${organizationId}`, yield* Clock.currentTimeMillis)
          return made === undefined ? yield* new NotFound({ detail: "No TURN server is configured" }) : turnCredentialsWire(made)
        })
    }),
    route({
      method: "get",
      path: signalingPath,
      name: "callFromBrowser",
      summary: "Make a call from a browser (websocket)",
      description:
        'After the upgrade, text messages are JSON, `{"type", "payload"}`. The page sends `offer` (`sdp`, `pc_id`, `call_context_vars`), `ice-candidate` (`candidate`, null for the last) and `renegotiate` (a later offer); it is sent `answer`, what happens in the conversation (`rtf-*`), `error` and, in the end, `call-ended`. The offer must have one audio stream and allow PCMU. A page that closes the websocket hangs up; a run is called once. The connection is closed with 1000 after the call, 4401 for an invalid credential, including one that becomes invalid later, 4403 for a viewer or an API key without the scope `calls`, 4404 for an unknown run, 4409 for one that has had its call, 4400 for what cannot be read, 4408 without an offer within 20 seconds, 4429 at a limit, 1008 for too many messages, 1012 or 1013 when another engine, or later, can make the call, and 1001 when the service stops.',
      answeredBy: "this",
      params: RunPath,
      query: Type.Object({
        token: optional(Type.String({ description: "A session token, or an API key, for pages, which cannot send headers." }))
      }),
      success: DownFrame,
      errors: ["UpgradeRequired"],
      handle: () => Effect.fail(new UpgradeRequired())
    })
  ]
)
