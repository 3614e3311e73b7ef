/** Starting a single call. */
import Type, { type Static } from "typebox"
import type { CallRequest } from "#core/call/Calls.ts"
import type { RunId, TelephonyConfigId } from "#core/Id.ts"
import type { ApiKeyId } from "#core/organization/Caller.ts"
import { id, object, optional, orUndefined } from "./Field.ts"

export const StartCall = Type.Object(
  {
    phone_number: Type.String({ description: "E.164, `+14155550100`." }),
    initial_context: optional(object("What the agent knows from the start; its prompts may name it.")),
    telephony_configuration_id: optional(id<TelephonyConfigId>("Left out: the organization's default."))
  },
  { title: "StartCall" }
)

export const callRequestOf = (agentUuid: string, apiKeyId: ApiKeyId, body: Static<typeof StartCall>): CallRequest => ({
  agentUuid,
  apiKeyId,
  phoneNumber: body.phone_number,
  initialContext: orUndefined(body.initial_context),
  telephonyConfigurationId: orUndefined(body.telephony_configuration_id)
})

export const CallStarted = Type.Object(
  {
    status: Type.Literal("initiated"),
    workflow_run_id: id<RunId>(),
    workflow_run_name: Type.String()
  },
  { title: "CallStarted" }
)

export const callStarted = ({ runId, runName }: { readonly runId: RunId; readonly runName: string }): Static<typeof CallStarted> => ({
  status: "initiated",
  workflow_run_id: runId,
  workflow_run_name: runName
})
