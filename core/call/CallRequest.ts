/** What a client asks of a single call, and why it may not get it. */
import { Schema } from "effect"
import type { AgentId, CallId, PhoneNumberId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { ApiKeyId, UserId } from "#core/organization/Caller.ts"

/** Neither E.164 with a leading `+`, nor an extension that the telephony configuration lists. */
export class PhoneNumberRefused extends Schema.TaggedError<PhoneNumberRefused>()("PhoneNumberRefused", {
  /** The configuration lists some. */
  hasExtensions: Schema.Boolean
}) {
  override get message(): string {
    const extension = this.hasExtensions ? ", or be an extension that the telephony configuration lists" : ""
    return `phone_number must be in E.164 format and start with '+'${extension}`
  }
}
/** The agent has a trigger of this path, but not in the version that is to run. */
export class TriggerNotInVersion extends Schema.TaggedError<TriggerNotInVersion>()("TriggerNotInVersion", {}) {}
/** No active number of the telephony configuration that the call goes through. */
export class CallerNumberNotFound extends Schema.TaggedError<CallerNumberNotFound>()("CallerNumberNotFound", { id: Schema.Int }) {}
/** Neither the request nor the organization says whom to call. */
export class TestNumberMissing extends Schema.TaggedError<TestNumberMissing>()("TestNumberMissing", {}) {}
/** The run that a test call was to use is not there, or is another agent's. */
export class RunRefused extends Schema.TaggedError<RunRefused>()("RunRefused", { reason: Schema.Literals(["not_found", "mismatch"]) }) {}
/** The run has had its call, which may be up: what it says of that call is not written over. */
export class RunCalled extends Schema.TaggedError<RunCalled>()("RunCalled", { isLive: Schema.Boolean }) {}
/** The call was begun by a process that is gone, and nobody can say yet whether it was placed. */
export class CallUnsettled extends Schema.TaggedError<CallUnsettled>()("CallUnsettled", {}) {}

interface AnyRequest {
  readonly telephonyConfigurationId?: TelephonyConfigId | undefined
  /** Undefined: the configuration's choice. */
  readonly fromPhoneNumberId?: PhoneNumberId | undefined
  /** The id that the call gets; when there is a call of this id already, that one is told of, and none is placed. */
  readonly callId?: CallId | undefined
}

export interface AgentCall extends AnyRequest {
  readonly phoneNumber: string
  readonly initialContext?: Readonly<Record<string, unknown>> | undefined
  readonly apiKeyId?: ApiKeyId | undefined
  /** Undefined for a key that no user made. */
  readonly apiKeyCreatedBy?: UserId | undefined
  /** Runs the agent's draft, if there is one. */
  readonly isTest?: boolean | undefined
}

/** By the agent's `workflow_uuid`, or by the path of its API trigger. */
export type CallRequest = AgentCall & ({ readonly agentUuid: string } | { readonly triggerPath: string })

export interface TestCallRequest extends AnyRequest {
  readonly agentId: AgentId
  readonly runId?: RunId | undefined
  /** Undefined: the organization's own number for tests. */
  readonly phoneNumber?: string | undefined
}
