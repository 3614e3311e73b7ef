/** Single calls: an agent calls one number at once, outside any campaign. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  AgentArchived,
  AgentNotFound,
  type AgentTriggerNotFound,
  type AgentUnpublished,
  type CallableAgent,
  type TriggeredAgent
} from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import type { NumberOptedOut } from "#core/contact/OptOut.ts"
import type { OrganizationId, PhoneNumberId, RunId, TelephonyConfigId } from "#core/Id.ts"
import type { Extensions } from "#core/telephony/Extensions.ts"
import {
  ready,
  type TelephonyConfigNotFound,
  type TelephonyNotConfigured,
  type TelephonyNotReady
} from "#core/telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import {
  CallerNumberNotFound,
  type CallRequest,
  CallUnsettled,
  PhoneNumberRefused,
  RunCalled,
  RunRefused,
  type TestCallRequest,
  TestNumberMissing,
  TriggerNotInVersion
} from "./CallRequest.ts"
import * as store from "./CallStore.ts"
import { CallNotPlaced, type ConcurrencyExhausted, Dialer, type MediaExhausted, type SingleCall } from "./Dialer.ts"
import type { NumberInCall } from "./NumberHold.ts"
import { type InitialContext, reservedNames } from "#core/run/RunRecord.ts"
import { isDialable } from "#core/telephony/E164.ts"

export interface StartedCall {
  readonly runId: RunId
  readonly runName: string
}

type NotDialed =
  | AgentNotFound
  | AgentArchived
  | AgentUnpublished
  | TelephonyConfigNotFound
  | TelephonyNotConfigured
  | TelephonyNotReady
  | CallerNumberNotFound
  | PhoneNumberRefused
  | ConcurrencyExhausted
  | MediaExhausted
  | CallNotPlaced
  | CallUnsettled
  | NumberInCall
  | NumberOptedOut

export class Calls extends Context.Service<
  Calls,
  {
    /** Returns once the provider has accepted the call, or when it is unknown whether it has; at once if a call with the id already exists. */
    readonly start: (
      organizationId: OrganizationId,
      call: CallRequest
    ) => Effect.Effect<StartedCall, NotDialed | AgentTriggerNotFound | TriggerNotInVersion>
    /** The same for testing an agent: runs its draft, if there is one. */
    readonly test: (
      organizationId: OrganizationId,
      call: TestCallRequest
    ) => Effect.Effect<StartedCall, NotDialed | TestNumberMissing | RunRefused | RunCalled>
  }
>()("core/call/Calls") {
  static readonly layer = Layer.effect(
    Calls,
    Effect.gen(function* () {
      const ports = { sql: yield* SqlClient.SqlClient, agents: yield* Agents, configs: yield* TelephonyConfigs, dialer: yield* Dialer }
      return Calls.of({
        start: Effect.fn("Calls.start")(function* (organizationId, call) {
          return (yield* earlier(ports.sql, organizationId, call)) ?? (yield* start(ports, organizationId, call))
        }),
        test: Effect.fn("Calls.test")(function* (organizationId, call) {
          return (yield* earlier(ports.sql, organizationId, call)) ?? (yield* test(ports, organizationId, call))
        })
      })
    })
  ).pipe(Layer.provide([Agents.layer, TelephonyConfigs.layer]))
}

interface Ports {
  readonly sql: SqlClient.SqlClient
  readonly agents: Agents["Service"]
  readonly configs: TelephonyConfigs["Service"]
  readonly dialer: Dialer["Service"]
}

/** The run of the call that has already begun with this id; undefined when there is none. */
const earlier = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  { callId }: Pick<CallRequest, "callId">
) {
  const found = callId === undefined ? undefined : yield* Effect.orDie(store.begun(sql, organizationId, callId))
  if (found === undefined) return undefined
  if (found.state === "intent") return yield* new CallUnsettled()
  if (found.run === null || !found.wasSent) return yield* new CallNotPlaced({ reason: "It was never sent to the provider." })
  return found.run
})

const start = Effect.fnUntraced(function* (ports: Ports, organizationId: OrganizationId, call: CallRequest) {
  const { agent, definitionId } = yield* agentOf(ports, organizationId, call)
  const config = yield* Effect.flatMap(ports.configs.resolve(organizationId, call.telephonyConfigurationId), ready)
  const from = yield* callerNumber(ports.sql, organizationId, config.id, call.fromPhoneNumberId)
  return yield* dial(ports, config.extensions, call.phoneNumber, {
    organizationId,
    agentId: agent.id,
    definitionId,
    isTest: call.isTest ?? false,
    telephonyConfigurationId: config.id,
    from,
    callId: call.callId,
    initialContext: contextOf(call, agent)
  })
})

const agentOf = Effect.fnUntraced(function* ({ agents }: Ports, organizationId: OrganizationId, call: CallRequest) {
  const isTest = call.isTest ?? false
  const versionOf = (agent: CallableAgent) => agents.calledVersion(organizationId, agent, isTest)
  if ("agentUuid" in call) {
    const agent = yield* active(yield* agents.getByUuid(organizationId, call.agentUuid))
    return { agent, definitionId: yield* versionOf(agent) }
  }
  const agent = yield* active(yield* agents.getByTrigger(organizationId, call.triggerPath))
  const definitionId = yield* versionOf(agent)
  return isInVersion(agent, isTest) ? { agent, definitionId } : yield* new TriggerNotInVersion()
})

const active = <Found extends CallableAgent>(agent: Found): Effect.Effect<Found, AgentArchived> =>
  agent.status === "archived" ? Effect.fail(new AgentArchived({ id: agent.id })) : Effect.succeed(agent)

const isInVersion = (agent: TriggeredAgent, isTest: boolean): boolean =>
  isTest && agent.draftDefinitionId !== null ? agent.isInDraft : agent.isPublished

const test = Effect.fnUntraced(function* (ports: Ports, organizationId: OrganizationId, call: TestCallRequest) {
  const { sql } = ports
  const config = yield* Effect.flatMap(ports.configs.resolve(organizationId, call.telephonyConfigurationId), ready)
  const phoneNumber = call.phoneNumber ?? (yield* Effect.orDie(store.testPhoneNumber(sql, organizationId)))
  if (phoneNumber === undefined || phoneNumber === "") return yield* new TestNumberMissing()
  const found = yield* Effect.orDie(store.findAgent(sql, organizationId, call.agentId))
  const agent = yield* active(found ?? (yield* new AgentNotFound({ id: call.agentId })))
  const definitionId = yield* ports.agents.calledVersion(organizationId, agent, true)
  const from = yield* callerNumber(sql, organizationId, config.id, call.fromPhoneNumberId)
  if (call.runId !== undefined) yield* unusable(sql, organizationId, call.runId, agent)
  return yield* dial(ports, config.extensions, phoneNumber, {
    organizationId,
    agentId: agent.id,
    definitionId,
    isTest: true,
    telephonyConfigurationId: config.id,
    from,
    callId: call.callId,
    initialContext: {}
  })
})

/** A run is the record of one call and is created with it, so no existing run can take a new call. */
const unusable = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, organizationId: OrganizationId, id: RunId, agent: CallableAgent) {
  const run = yield* Effect.orDie(store.findRun(sql, organizationId, id))
  if (run === undefined) return yield* new RunRefused({ reason: "not_found" })
  if (run.agentId !== agent.id) return yield* new RunRefused({ reason: "mismatch" })
  return yield* new RunCalled({ isLive: run.isLive })
})

const callerNumber = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  organizationId: OrganizationId,
  configId: TelephonyConfigId,
  id: PhoneNumberId | undefined
) {
  if (id === undefined) return undefined
  const address = yield* Effect.orDie(store.callerNumber(sql, organizationId, configId, id))
  return address ?? (yield* new CallerNumberNotFound({ id }))
})

const dial = Effect.fnUntraced(function* (
  { dialer }: Ports,
  extensions: Extensions,
  phoneNumber: string,
  call: Omit<SingleCall, "phoneNumber">
) {
  if (!isDialable(phoneNumber) && !extensions.has(phoneNumber)) return yield* new PhoneNumberRefused({ hasExtensions: !extensions.isEmpty })
  const { runId, runName } = yield* dialer.dial({ ...call, phoneNumber })
  return { runId, runName }
})

/** The dialer adds what it knows about the call itself. */
const contextOf = (call: CallRequest, agent: CallableAgent): Readonly<Record<string, unknown>> => ({
  ...triggerOf(call, agent),
  ...Object.fromEntries(Object.entries(call.initialContext ?? {}).filter(([name]) => !reservedNames.includes(name)))
})
const triggerOf = (call: CallRequest, { workflowUuid }: CallableAgent): InitialContext => ({
  trigger_mode: call.isTest === true ? "test" : "production",
  ...("agentUuid" in call
    ? { agent_identifier: call.agentUuid, agent_identifier_type: "workflow_uuid" }
    : { agent_identifier: call.triggerPath, agent_identifier_type: "trigger_path", agent_uuid: call.triggerPath }),
  workflow_uuid: workflowUuid,
  ...(call.fromPhoneNumberId === undefined ? {} : { from_phone_number_id: call.fromPhoneNumberId }),
  ...(call.apiKeyId === undefined ? {} : { api_key_id: call.apiKeyId }),
  ...(call.apiKeyCreatedBy === undefined ? {} : { api_key_created_by: call.apiKeyCreatedBy })
})
