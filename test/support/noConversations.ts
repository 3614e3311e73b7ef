/** Calls that leave no conversation behind. */
import { Effect, Layer } from "effect"
import { ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"

export const noConversations = Layer.succeed(ConversationRecords, {
  open: () => ({ note: () => {} }),
  collect: () => Effect.undefined,
  settled: () => {},
  optedOut: () => Effect.void
})
