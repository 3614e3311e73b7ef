/** A call that an earlier process had requested, and whose phone may ring or have been answered by now. */
import { Effect } from "effect"
import type { LeftAttempt } from "#core/call/Attempt.ts"
import { recoverSent } from "#core/call/recoveredCall.ts"
import { AgentDefinitionId, RunId } from "#core/Id.ts"
import type { SteadyMillis } from "#core/SteadyTime.ts"
import { CallSupervisor } from "#runtime/call/CallSupervisor.ts"
import { TrunkPool } from "#runtime/trunk/TrunkPool.ts"
import { callId, type Scene } from "./callScene.ts"
import { configurationId, organizationId } from "./fakes.ts"
import { refTo } from "./refTo.ts"

/** Gives the scene's call its actor. `trace`: whether the earlier process had seen it. */
export const adoptCall = Effect.fnUntraced(function* ({ context }: Scene, sentAt: SteadyMillis, trace: Parameters<typeof recoverSent>[2]) {
  const left: LeftAttempt = {
    agentDefinitionId: AgentDefinitionId.make(1),
    answeredAt: undefined,
    call: refTo(callId),
    callId,
    campaign: undefined,
    initialContext: context,
    journal: undefined,
    node: "here",
    organizationId,
    runId: RunId.make(1),
    state: "sent",
    telephonyConfigurationId: configurationId
  }
  const supervisor = yield* CallSupervisor
  const trunk = yield* TrunkPool.use((pool) => pool.get(configurationId))
  if (trunk === undefined) return yield* Effect.die("no trunk")
  return yield* supervisor.resume(left, trunk, (limits) => recoverSent(limits, sentAt, trace), {})
})
