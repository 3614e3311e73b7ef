/**
 * The work that conversations request outside their calls, and where their results are recorded. Without this layer, nothing is done or kept.
 */
import { Context, Effect, Layer } from "effect"
import type { ToolAnswer } from "#core/agent/conversation/ConversationState.ts"
import type { HttpToolRequest } from "#core/agent/conversation/HttpTool.ts"
import type { Attempt } from "#core/call/Attempt.ts"
import type { CallFact } from "#core/conversation/ConversationEntry.ts"
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
    const tools = yield* HttpTools
    return {
      runTool: ({ organizationId }: Attempt, request: HttpToolRequest) => tools.run(organizationId, request),
      record: ({ callId, organizationId, runId }, call) => records.open({ callId, organizationId, runId, ...call }).note
    } satisfies Conversations
  })
)
