/** What a client requests of a single call, and the reasons to refuse it. */
import { Schema } from "effect"
import type { AgentId, CallId, PhoneNumberId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { ApiKeyId, UserId } from "#core/organization/Caller.ts"

/** The number is neither E.164 with a leading `+` nor an extension that the telephony configuration lists. */
export class PhoneNumberRefused extends Schema.TaggedError<PhoneNumberRefused>()("PhoneNumberRefused", {
  /** Whether the configuration lists any extensions. */
  hasExtensions: Schema.Boolean
}) {
  override get message(): string {
    const extension = this.hasExtensions ? ", or be an extension that the telephony configuration lists" : ""
    return `phone_number must be in E.164 format and start with '+'${extension}`
  }
}
/** The agent has a trigger with this path, but not in the version that would run. */
export class TriggerNotInVersion extends Schema.TaggedError<TriggerNotInVersion>()("TriggerNotInVersion", {}) {}
/** The number is not an active one of the call's telephony configuration, or cannot be shown to a callee. */
export class CallerNumberNotFound extends Schema.TaggedError<CallerNumberNotFound>()("CallerNumberNotFound", { id: Schema.Int }) {}
/** Neither the request nor the organization has a number to call. */
export class TestNumberMissing extends Schema.TaggedError<TestNumberMissing>()("TestNumberMissing", {}) {}
/** The run that a test call names does not exist, or belongs to another agent. */
export class RunRefused extends Schema.TaggedError<RunRefused>()("RunRefused", { reason: Schema.Literals(["not_found", "mismatch"]) }) {}
/** The run already has its call, which may still be up. The record of that call is not overwritten. */
export class RunCalled extends Schema.TaggedError<RunCalled>()("RunCalled", { isLive: Schema.Boolean }) {}
/** A call with this id exists, and it is not known yet whether it has been placed. */
export class CallUnsettled extends Schema.TaggedError<CallUnsettled>()("CallUnsettled", {}) {}

interface AnyRequest {
  readonly telephonyConfigurationId?: TelephonyConfigId | undefined
  /** Undefined: the configuration chooses. */
  readonly fromPhoneNumberId?: PhoneNumberId | undefined
  /** Id for the new call. If a call with this id exists, the answer describes that call, and none is placed. */
  readonly callId?: CallId | undefined
}

export interface AgentCall extends AnyRequest {
  readonly phoneNumber: string
  readonly initialContext?: Readonly<Record<string, unknown>> | undefined
  readonly apiKeyId?: ApiKeyId | undefined
  /** Undefined for a key that no user created. */
  readonly apiKeyCreatedBy?: UserId | undefined
  /** Runs the agent's draft, if there is one. */
  readonly isTest?: boolean | undefined
}

/** Names the agent by its `workflow_uuid` or by the path of its API trigger. */
export type CallRequest = AgentCall & ({ readonly agentUuid: string } | { readonly triggerPath: string })

export interface TestCallRequest extends AnyRequest {
  readonly agentId: AgentId
  readonly runId?: RunId | undefined
  /** Undefined: the organization's own test number. */
  readonly phoneNumber?: string | undefined
}
