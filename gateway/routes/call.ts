/** /api/v1/public/agent: single calls. */
import { Effect } from "effect"
import Type from "typebox"
import { Calls } from "#core/call/Calls.ts"
import { AgentNotFound } from "#core/agent/Agent.ts"
import { route, tagged } from "../Route.ts"
import { callRequestOf, CallStarted, callStarted, StartCall } from "../wire/Call.ts"

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export const callRoutes = tagged("Calls", [
  route({
    method: "post",
    path: "/api/v1/public/agent/workflow/:workflow_uuid",
    name: "startCall",
    summary: "Call somebody",
    description: "Answers once the provider has taken the call. The run tells how it goes on.",
    access: "api-key-header",
    params: Type.Object({ workflow_uuid: Type.String() }),
    headers: Type.Object({ "X-API-Key": Type.String() }),
    body: StartCall,
    success: CallStarted,
    errors: [
      "NotAuthenticated",
      "AgentNotFound",
      "AgentArchived",
      "TelephonyConfigNotFound",
      "TelephonyNotConfigured",
      "PhoneNumberRefused",
      "ConcurrencyExhausted",
      "CallNotPlaced"
    ],
    handle: ({ body, caller, params }) =>
      uuid.test(params.workflow_uuid)
        ? Calls.use((_) => _.start(caller.organizationId, callRequestOf(params.workflow_uuid, caller.apiKeyId, body))).pipe(
            Effect.map(callStarted)
          )
        : Effect.fail(new AgentNotFound({ id: params.workflow_uuid }))
  })
])
