/** The results of testing a telephony configuration. */
import Type, { type Static } from "typebox"
import { type AgentId, CallId, type PhoneNumberId, type RunId, type TelephonyConfigId } from "#core/Id.ts"
import type { TestCallRequest } from "#core/call/CallRequest.ts"
import type { StartedCall } from "#core/call/Calls.ts"
import type { TelephonyTest } from "#core/telephony/TelephonyTests.ts"
import { id, instant, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

const TestedCall = Type.Object(
  {
    phone_number: Type.String({ description: "E.164 (`+14155550100`), or an extension that the telephony configuration lists." }),
    workflow_id: id<AgentId>("The agent that calls; its draft, if it has one."),
    from_phone_number_id: optional(id<PhoneNumberId>("The caller ID. If left out, the configuration chooses."))
  },
  { title: "TelephonyTestCall" }
)

export const TestTelephonyConfig = Type.Object(
  {
    call: optional(
      Type.Object(TestedCall.properties, {
        description: "A call to place afterwards: an ordinary single call, within all limits. If left out, nobody is called."
      })
    )
  },
  { title: "TestTelephonyConfig" }
)

/** `requestId`: identifies the call before it is placed. */
export const testedCallOf = (
  { call }: Static<typeof TestTelephonyConfig>,
  telephonyConfigurationId: TelephonyConfigId,
  requestId: string | undefined
): TestCallRequest | undefined =>
  call === null
    ? undefined
    : {
        agentId: call.workflow_id,
        callId: requestId === undefined ? undefined : CallId.make(requestId),
        fromPhoneNumberId: orUndefined(call.from_phone_number_id),
        phoneNumber: call.phone_number,
        telephonyConfigurationId
      }

const CheckWire = Type.Object(
  {
    name: Type.String({ description: "What was checked, depending on the provider: `connection`, `credentials`, `rights` and so on." }),
    result: Type.Enum(["passed", "warning", "failed"]),
    message: Type.String(),
    advice: nullable(Type.String({ description: "What to do about it." }))
  },
  { title: "TelephonyCheck" }
)
const tried = {
  passed: Type.Boolean({ description: "True if no check failed." }),
  tested_at: instant(),
  checks: Type.Array(CheckWire)
}

export const TelephonyTestWire = Type.Object(tried, { title: "TelephonyTest" })

export const telephonyTestWire = ({ at, checks, passed }: TelephonyTest): Static<typeof TelephonyTestWire> => ({
  passed,
  tested_at: new Date(at).toISOString(),
  checks: checks.map(({ advice, message, name, result }) => ({ name, result, message, advice: orNull(advice) }))
})

export const TelephonyTested = Type.Object(
  {
    ...tried,
    call: nullable(
      Type.Object(
        {
          status: Type.Enum(["initiated", "not_placed"]),
          workflow_run_id: nullable(id<RunId>("The run records how the call went.")),
          reason: nullable(Type.String({ description: "Why it was not placed." }))
        },
        { title: "TelephonyTestedCall" }
      )
    )
  },
  { title: "TelephonyTested" }
)
type Tested = Static<typeof TelephonyTested>

export const callInitiated = ({ runId }: StartedCall): Tested["call"] => ({ status: "initiated", workflow_run_id: runId, reason: null })
export const callNotPlaced = (reason: string): Tested["call"] => ({ status: "not_placed", workflow_run_id: null, reason })
