/** Single calls: one number, one agent, now. */
import { Context, Effect, Layer, Schema } from "effect"
import { AgentArchived, type AgentNotFound } from "../agent/Agent.ts"
import { Agents } from "../agent/Agents.ts"
import type { OrganizationId, RunId, TelephonyConfigId } from "../Id.ts"
import type { ApiKeyId } from "../organization/Caller.ts"
import type { TelephonyConfigNotFound, TelephonyNotConfigured } from "../telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "../telephony/TelephonyConfigs.ts"
import { type CallNotPlaced, type ConcurrencyExhausted, Dialer } from "./Dialer.ts"

/** Not E.164 with a leading `+`. */
export class PhoneNumberRefused extends Schema.TaggedError<PhoneNumberRefused>()("PhoneNumberRefused", {}) {}

const e164 = /^\+[1-9]\d{6,14}$/
/** Names that only the engine may give a meaning to. */
const reserved: ReadonlySet<string> = new Set(["provider", "runtime_configuration", "mps_correlation_id", "called_number"])

export interface CallRequest {
  /** The agent's `workflow_uuid`. */
  readonly agentUuid: string
  readonly phoneNumber: string
  readonly initialContext?: Readonly<Record<string, unknown>> | undefined
  readonly telephonyConfigurationId?: TelephonyConfigId | undefined
  readonly apiKeyId?: ApiKeyId | undefined
}

export class Calls extends Context.Service<
  Calls,
  {
    /** Returns once the provider has taken the call. */
    readonly start: (
      organizationId: OrganizationId,
      call: CallRequest
    ) => Effect.Effect<
      { readonly runId: RunId; readonly runName: string },
      | PhoneNumberRefused
      | AgentNotFound
      | AgentArchived
      | TelephonyConfigNotFound
      | TelephonyNotConfigured
      | ConcurrencyExhausted
      | CallNotPlaced
    >
  }
>()("core/call/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const agents = yield* Agents
      const configs = yield* TelephonyConfigs
      const dialer = yield* Dialer
      return Calls.of({
        start: Effect.fn("Calls.start")(function* (organizationId, call) {
          const agent = yield* agents.getByUuid(organizationId, call.agentUuid)
          if (agent.status === "archived") return yield* new AgentArchived({ id: agent.id })
          const config = yield* configs.resolve(organizationId, call.telephonyConfigurationId)
          if (!e164.test(call.phoneNumber)) return yield* new PhoneNumberRefused()
          const { runId, runName } = yield* dialer.dial({
            organizationId,
            agentId: agent.id,
            telephonyConfigurationId: config.id,
            phoneNumber: call.phoneNumber,
            initialContext: contextOf(call)
          })
          return { runId, runName }
        })
      })
    })
  ).pipe(Layer.provide([Agents.layer, TelephonyConfigs.layer]))
}

/** The dialer adds what is known of the call itself. */
const contextOf = (call: CallRequest): Readonly<Record<string, unknown>> => ({
  trigger_mode: "production",
  agent_identifier: call.agentUuid,
  agent_identifier_type: "workflow_uuid",
  workflow_uuid: call.agentUuid,
  ...(call.apiKeyId === undefined ? {} : { api_key_id: call.apiKeyId }),
  ...Object.fromEntries(Object.entries(call.initialContext ?? {}).filter(([name]) => !reserved.has(name)))
})
