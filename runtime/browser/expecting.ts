/** The agent of a call that a page is about to make gets its voice ready meanwhile, as the agent of a dialed call does while the phone rings. */
import { Effect, FiberSet } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import type { BrowserCalls } from "#core/call/BrowserCalls.ts"
import type { BrowserRun } from "#core/call/BrowserRun.ts"
import type { OrganizationId } from "#core/Id.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { plannedTalk } from "#runtime/call/plannedTalk.ts"
import { VoiceAgent } from "#runtime/voice/VoiceAgent.ts"

/** What still runs is interrupted with the scope. */
export const makeExpecting = Effect.gen(function* () {
  const agent = yield* VoiceAgent
  const plans = yield* ConversationPlans
  const services = yield* AgentServices
  const versions = yield* AgentVersions
  const fibers = yield* FiberSet.make<void>()
  const warm = Effect.fnUntraced(function* (organizationId: OrganizationId, { definitionId, initialContext: known }: BrowserRun) {
    const version = yield* versions.get(definitionId)
    const chosen = yield* services.chosenFor(organizationId, version.configurations)
    const wanted = { chosen, version, organizationId, known, later: undefined, mayHear: true, longestCallSeconds: undefined }
    yield* agent.warm({ conversation: yield* plannedTalk({ plans }, wanted), voice: chosen.voice })
  })
  const expect: BrowserCalls["Service"]["expect"] = (organizationId, run) =>
    // The call itself reports what is wrong.
    Effect.asVoid(FiberSet.run(fibers, Effect.ignoreCause(warm(organizationId, run)), { startImmediately: true }))
  return expect
})
