/** Calls that leave no conversation behind, or the given one. */
import { Effect, Layer } from "effect"
import { type CollectedConversation, ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"

export const leaving = (conversation: () => CollectedConversation | undefined) =>
  Layer.succeed(ConversationRecords, {
    open: () => ({ note: () => {} }),
    brokeOff: () => {},
    collect: () => Effect.sync(conversation),
    settled: () => {},
    optedOut: () => Effect.void
  })

export const noConversations = leaving(() => undefined)
