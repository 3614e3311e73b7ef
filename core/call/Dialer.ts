/** Port: place a single call now, outside of any campaign. */
import { Context, type Effect, Schema } from "effect"
import type { CallUnsettled } from "./CallRequest.ts"
import type { NumberInCall } from "./NumberHold.ts"
import type { AgentDefinitionId, AgentId, CallId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"

export class ConcurrencyExhausted extends Schema.TaggedError<ConcurrencyExhausted>()("ConcurrencyExhausted", {}) {}
/** This node has as many calls with audio as it can speak to, or as it was set to have; this one would be one more. */
export class MediaExhausted extends Schema.TaggedError<MediaExhausted>()("MediaExhausted", { retryAfterSeconds: Schema.Int }) {}
/** The provider refused the call, or its trunk is down or at rest; `reason` is a sentence for the caller. */
export class CallNotPlaced extends Schema.TaggedError<CallNotPlaced>()("CallNotPlaced", {
  reason: Schema.String,
  /** When it may be otherwise, where that is known. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}

export interface SingleCall {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  /** The version of the agent that runs. */
  readonly definitionId: AgentDefinitionId
  /** What the version says of its template variables is known to the agent too. */
  readonly isTest: boolean
  readonly telephonyConfigurationId: TelephonyConfigId
  /** E.164, or an extension of the telephony configuration. */
  readonly phoneNumber: string
  /** The number to show. Undefined: the configuration's choice. */
  readonly from: string | undefined
  /** Undefined: a new one. Never one that has been dialed with. */
  readonly callId: CallId | undefined
  readonly initialContext: Readonly<Record<string, unknown>>
}

export class Dialer extends Context.Service<
  Dialer,
  {
    /** Succeeds once the provider has accepted the request, or when it is unknown whether it has: the run tells how it went on. */
    readonly dial: (
      call: SingleCall
    ) => Effect.Effect<
      { readonly runId: RunId; readonly runName: string; readonly callId: CallId },
      ConcurrencyExhausted | MediaExhausted | CallNotPlaced | CallUnsettled | NumberInCall
    >
  }
>()("core/call/Dialer") {}
