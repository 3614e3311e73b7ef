/**
 * The work that conversations request outside their calls, where their results are recorded, and who is told that they are slow. Without this layer,
 * nothing is done or kept.
 */
import { Context, Effect, FiberSet, Layer } from "effect"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import type { Attempt } from "#core/call/Attempt.ts"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
import { conversationSlow, SlowStages } from "#core/conversation/SlowStages.ts"
import { ConversationRecords, type RecordedCall } from "#runtime/conversation/ConversationRecords.ts"
import { HttpTools } from "#runtime/conversation/HttpTools.ts"

interface Conversations {
  readonly runTool: (attempt: Attempt, request: HttpToolRequest) => Effect.Effect<ToolAnswer>
  /** Opens the record of a call's conversation, once per call. The returned function takes facts in order, and returns at once. */
  readonly record: (
    attempt: Attempt,
    call: Pick<RecordedCall, "phoneNumber" | "timeZone" | "isContinued" | "keepsTranscript">
  ) => (fact: CallFact) => void
}

export const CallConversations = Context.Reference<Conversations>("runtime/call/CallConversations", {
  defaultValue: () => ({
    runTool: () => Effect.succeed({ _tag: "Failed", reason: "Tools are not available." }),
    record: () => () => {}
  })
})

export const layer = Layer.effect(
  CallConversations,
  Effect.gen(function* () {
    const records = yield* ConversationRecords
    const { log } = yield* CampaignOwnership
    const run = yield* FiberSet.makeRuntime()
    const stages = new SlowStages()
    /** The campaign's log names what its callees wait for too long. */
    const watch = ({ campaign }: Attempt, fact: CallFact): void => {
      if (campaign === undefined || fact._tag !== "Waited") return
      const slow = stages.waited(campaign.campaignId, fact)
      if (slow !== undefined) run(Effect.ignoreCause(log(campaign.campaignId, conversationSlow(slow)), { log: "Warn" }))
    }
    const tools = yield* HttpTools
    return {
      runTool: ({ organizationId }: Attempt, request: HttpToolRequest) => tools.run(organizationId, request),
      record: (attempt, call) => {
        const { callId, organizationId, runId } = attempt
        const { note } = records.open({ callId, organizationId, runId, ...call })
        return (fact) => {
          note(fact)
          watch(attempt, fact)
        }
      }
    } satisfies Conversations
  })
)
