/** Port: places a single call at once, outside any campaign. */
import { Context, type Effect, Schema } from "effect"
import type { CallUnsettled } from "./CallRequest.ts"
import type { NumberOptedOut } from "#core/contact/OptOut.ts"
import type { NumberInCall } from "./NumberHold.ts"
import type { AgentDefinitionId, AgentId, CallId, OrganizationId, RunId, TelephonyConfigId } from "#core/Id.ts"

export class ConcurrencyExhausted extends Schema.TaggedError<ConcurrencyExhausted>()("ConcurrencyExhausted", {}) {}
/** This node already carries as many calls with audio as it can serve, or as it is configured for. */
export class MediaExhausted extends Schema.TaggedError<MediaExhausted>()("MediaExhausted", { retryAfterSeconds: Schema.Int }) {}
/** The call was not placed, for example because the provider refused it or its trunk is down. `reason` is a sentence for the client. */
export class CallNotPlaced extends Schema.TaggedError<CallNotPlaced>()("CallNotPlaced", {
  reason: Schema.String,
  /** When another attempt may succeed, if known. */
  retryAfterSeconds: Schema.optionalKey(Schema.Int)
}) {}

export interface SingleCall {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  /** The version of the agent that runs. */
  readonly definitionId: AgentDefinitionId
  /** Whether the context also contains the version's template variables. */
  readonly isTest: boolean
  readonly telephonyConfigurationId: TelephonyConfigId
  /** E.164, or an extension of the telephony configuration. */
  readonly phoneNumber: string
  /** The number to show. Undefined: the configuration chooses. */
  readonly from: string | undefined
  /** Undefined: a new id. Never the id of a call that was already dialed. */
  readonly callId: CallId | undefined
  readonly initialContext: Readonly<Record<string, unknown>>
}

export class Dialer extends Context.Service<
  Dialer,
  {
    /** Succeeds once the provider has accepted the request, or when it is unknown whether it has. The run shows what follows. */
    readonly dial: (
      call: SingleCall
    ) => Effect.Effect<
      { readonly runId: RunId; readonly runName: string; readonly callId: CallId },
      ConcurrencyExhausted | MediaExhausted | CallNotPlaced | CallUnsettled | NumberInCall | NumberOptedOut
    >
  }
>()("core/call/Dialer") {}
