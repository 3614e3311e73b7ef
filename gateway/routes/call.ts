/** /api/v1/public/agent and /api/v1/telephony/initiate-call: single calls. */
import { Effect } from "effect"
import Type, { type Static, type TObject } from "typebox"
import { Calls } from "#core/call/Calls.ts"
import { RequestId } from "#core/Idempotency.ts"
import { idempotent } from "#gateway/request/idempotency.ts"
import { NotPossible } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  agentCallOf,
  CallInitiated,
  callInitiated,
  CallStarted,
  callStarted,
  InitiateCall,
  StartCall,
  testCallOf
} from "#gateway/wire/Call.ts"

const description = "Answers once the provider has accepted the call. The run shows how it proceeds."
const keyHeader = Type.Object({ "X-API-Key": Type.String() })
/** Errors of every route that places a single call. */
export const dialErrors = [
  "AgentNotFound",
  "AgentArchived",
  "AgentUnpublished",
  "TelephonyConfigNotFound",
  "TelephonyNotConfigured",
  "TelephonyNotReady",
  "CallerNumberNotFound",
  "PhoneNumberRefused",
  "ConcurrencyExhausted",
  "MediaExhausted",
  "CallNotPlaced",
  "CallUnsettled",
  "NumberInCall",
  "NumberOptedOut"
] as const
const startErrors = ["NotAuthenticated", "AgentTriggerNotFound", "TriggerNotInVersion", ...dialErrors] as const

const start = <Params extends TObject>(way: {
  readonly path: string
  readonly name: string
  readonly summary: string
  readonly isTest: boolean
  readonly params: Params
  readonly callee: (params: Static<Params>) => { readonly agentUuid: string } | { readonly triggerPath: string }
}) =>
  idempotent(
    route({
      method: "post",
      path: `/api/v1/public/agent/${way.path}`,
      name: way.name,
      summary: way.summary,
      description,
      access: "api-key-header",
      params: way.params,
      headers: keyHeader,
      body: StartCall,
      success: CallStarted,
      errors: startErrors,
      handle: ({ body, caller, params }) =>
        Effect.gen(function* () {
          const call = { ...agentCallOf(caller, body, way.isTest, yield* RequestId), ...way.callee(params) }
          return callStarted(yield* Calls.use((_) => _.start(caller.organizationId, call)))
        })
    })
  )

const byUuid = {
  params: Type.Object({ workflow_uuid: Type.String() }),
  callee: (params: { readonly workflow_uuid: string }) => ({ agentUuid: params.workflow_uuid })
}
const byTrigger = {
  params: Type.Object({ trigger_path: Type.String({ description: "The path of an API trigger node." }) }),
  callee: (params: { readonly trigger_path: string }) => ({ triggerPath: params.trigger_path })
}

export const callRoutes = tagged({ name: "Calls", about: "Single calls, placed at once.", scope: "calls" }, [
  start({ ...byUuid, path: "workflow/:workflow_uuid", name: "startCall", summary: "Call somebody", isTest: false }),
  start({
    ...byUuid,
    path: "test/workflow/:workflow_uuid",
    name: "startTestCall",
    summary: "Call somebody with the agent's draft",
    isTest: true
  }),
  start({ ...byTrigger, path: ":trigger_path", name: "startTriggeredCall", summary: "Call somebody by an API trigger", isTest: false }),
  start({
    ...byTrigger,
    path: "test/:trigger_path",
    name: "startTriggeredTestCall",
    summary: "Call somebody by an API trigger, with the agent's draft",
    isTest: true
  }),
  idempotent(
    route({
      method: "post",
      path: "/api/v1/telephony/initiate-call",
      name: "initiateCall",
      summary: "Test an agent on the phone",
      description,
      body: InitiateCall,
      success: CallInitiated,
      errors: [...dialErrors, "TestNumberMissing", "RunRefused", "RunCalled", "NotPossible"],
      handle: ({ body, caller }) =>
        Effect.gen(function* () {
          const call = testCallOf(body, yield* RequestId)
          return callInitiated(yield* Calls.use((_) => _.test(caller.organizationId, call)))
        }).pipe(Effect.catchTag("TelephonyNotConfigured", () => Effect.fail(new NotPossible({ detail: "telephony_not_configured" }))))
    })
  )
])
