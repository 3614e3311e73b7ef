/** Starting a single call. */
import Type, { type Static } from "typebox"
import type { AgentCall, TestCallRequest } from "#core/call/CallRequest.ts"
import type { StartedCall } from "#core/call/Calls.ts"
import { type AgentId, CallId, type PhoneNumberId, type RunId, type TelephonyConfigId } from "#core/Id.ts"
import type { Caller } from "#core/organization/Caller.ts"
import { id, object, optional, orUndefined } from "#gateway/request/Field.ts"

const ways = {
  telephony_configuration_id: optional(id<TelephonyConfigId>("If left out, the organization's default is used.")),
  from_phone_number_id: optional(
    id<PhoneNumberId>("The caller ID: an active number of the configuration. If left out, the configuration chooses.")
  )
}

export const StartCall = Type.Object(
  {
    phone_number: Type.String({ description: "E.164 (`+14155550100`), or an extension that the telephony configuration lists." }),
    initial_context: optional(object("What the agent knows from the start; its prompts can refer to it.")),
    ...ways
  },
  { title: "StartCall" }
)

/** `requestId`: identifies the call before it is placed. */
export const agentCallOf = (
  { apiKeyId, userId }: Caller,
  body: Static<typeof StartCall>,
  isTest: boolean,
  requestId: string | undefined
): AgentCall => ({
  apiKeyId,
  apiKeyCreatedBy: userId,
  isTest,
  phoneNumber: body.phone_number,
  initialContext: orUndefined(body.initial_context),
  ...wayOf(body, requestId)
})

const wayOf = (body: Pick<Static<typeof StartCall>, keyof typeof ways>, requestId: string | undefined) => ({
  telephonyConfigurationId: orUndefined(body.telephony_configuration_id),
  fromPhoneNumberId: orUndefined(body.from_phone_number_id),
  callId: requestId === undefined ? undefined : CallId.make(requestId)
})

export const CallStarted = Type.Object(
  {
    status: Type.Literal("initiated"),
    workflow_run_id: id<RunId>(),
    workflow_run_name: Type.String()
  },
  { title: "CallStarted" }
)

export const callStarted = ({ runId, runName }: StartedCall): Static<typeof CallStarted> => ({
  status: "initiated",
  workflow_run_id: runId,
  workflow_run_name: runName
})

export const InitiateCall = Type.Object(
  {
    workflow_id: id<AgentId>("The agent that calls; its draft, if it has one."),
    workflow_run_id: optional(id<RunId>("Refused: every run has had its call.")),
    phone_number: optional(
      Type.String({
        description:
          "E.164, or an extension that the telephony configuration lists. If left out: the `test_phone_number` of the organization's preferences."
      })
    ),
    ...ways
  },
  { title: "InitiateCall" }
)

export const testCallOf = (body: Static<typeof InitiateCall>, requestId: string | undefined): TestCallRequest => ({
  agentId: body.workflow_id,
  runId: orUndefined(body.workflow_run_id),
  phoneNumber: orUndefined(body.phone_number),
  ...wayOf(body, requestId)
})

export const CallInitiated = Type.Object({ message: Type.String({ description: "Names the run." }) }, { title: "CallInitiated" })

export const callInitiated = ({ runName }: StartedCall): Static<typeof CallInitiated> => ({
  message: `Call initiated successfully with run name ${runName}`
})
