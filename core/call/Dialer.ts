/** Port: place a single call now, outside of any campaign. */
import { Context, type Effect, Schema } from "effect"
import type { AgentId, CallId, OrganizationId, RunId, TelephonyConfigId } from "../Id.ts"

export class ConcurrencyExhausted extends Schema.TaggedError<ConcurrencyExhausted>()("ConcurrencyExhausted", {}) {}
/** The provider refused the call, or its trunk is down; `reason` is a sentence for the caller. */
export class CallNotPlaced extends Schema.TaggedError<CallNotPlaced>()("CallNotPlaced", { reason: Schema.String }) {}

export interface SingleCall {
  readonly organizationId: OrganizationId
  readonly agentId: AgentId
  readonly telephonyConfigurationId: TelephonyConfigId
  /** E.164. */
  readonly phoneNumber: string
  readonly initialContext: Readonly<Record<string, unknown>>
}

export class Dialer extends Context.Service<
  Dialer,
  {
    /** Succeeds once the provider has accepted the request, or when it is unknown whether it has: the run tells how it went on. */
    readonly dial: (
      call: SingleCall
    ) => Effect.Effect<{ readonly runId: RunId; readonly runName: string; readonly callId: CallId }, ConcurrencyExhausted | CallNotPlaced>
  }
>()("core/call/Dialer") {}
