/**
 * A text chat: somebody tests an agent in writing, and can take turns back. It runs one version of the agent to its end: the draft, if there was
 * one when it began. Nobody is called, no webhook is sent, and no number opts out.
 */
import { Schema } from "effect"
import type { StoredState } from "#core/agent/conversation/StoredState.ts"
import type { AgentDefinitionId, AgentId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { TokenUsage } from "#core/run/RunRecord.ts"

/** The `mode` of its run. */
export const textChatMode = "textchat"

interface ChatMessage {
  readonly text: string
  readonly created_at: string
}

/** What happened in a turn, in the API's words. */
export interface ChatEvent {
  readonly type: "node_transition" | "tool_call_started" | "tool_call_result" | "extraction_failed" | "session_end"
  readonly created_at: string
  readonly payload: JsonObject
}

/** Tokens by service and model. */
export type ChatUsage = Readonly<Record<string, TokenUsage>>

/** A message and the agent's answer, stored as the API shows it. */
export interface ChatTurn {
  readonly id: string
  readonly created_at: string
  /** Null in the first turn: the agent speaks first. */
  readonly user_message: ChatMessage | null
  /** Null where the agent said nothing. */
  readonly assistant_message: ChatMessage | null
  readonly events: ReadonlyArray<ChatEvent>
  readonly usage: { readonly llm: ChatUsage }
  /** Where the conversation stood after it. */
  readonly node_id: string
  readonly gathered_context: JsonObject
}

export interface PlacedTurn {
  readonly place: number
  readonly turn: ChatTurn
  /** ISO 8601; null for a turn that has not been taken back. */
  readonly discardedAt: string | null
  /** The turn from which the chat continued instead. */
  readonly rewoundFrom: string | null
}

export interface TextChat {
  readonly runId: RunId
  readonly agentId: AgentId
  readonly definitionId: AgentDefinitionId
  readonly name: string
  readonly isCompleted: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  readonly initialContext: JsonObject
  readonly gatheredContext: JsonObject | null
  readonly annotations: JsonObject | null
  readonly usageInfo: JsonObject | null
  readonly revision: number
  readonly cursorTurnId: string | null
  readonly context: JsonObject
  readonly timeZone: string
  readonly idleSeconds: number
  /** Null once it is over. */
  readonly expiresAt: Date | null
  /** All turns in the order in which they were made. */
  readonly turns: ReadonlyArray<PlacedTurn>
  /** After the turn that the next message continues from; null once the turns have been deleted. */
  readonly state: StoredState | null
}

export class TextChatNotFound extends Schema.TaggedError<TextChatNotFound>()("TextChatNotFound", {}) {}
/** The run is that of a call. */
export class RunNotTextChat extends Schema.TaggedError<RunNotTextChat>()("RunNotTextChat", {}) {}
export class TextChatEnded extends Schema.TaggedError<TextChatEnded>()("TextChatEnded", {}) {}
export class ChatTurnNotFound extends Schema.TaggedError<ChatTurnNotFound>()("ChatTurnNotFound", {}) {}
/** The chat is not as the client last saw it, or `isBusy`: another change of it is under way. */
export class TextChatConflict extends Schema.TaggedError<TextChatConflict>()("TextChatConflict", {
  expected: Schema.Int,
  actual: Schema.Int,
  isBusy: Schema.Boolean
}) {}
/** The agent could not answer: nothing has changed, and the same message may be sent again. `reason` holds nothing of the conversation. */
export class ChatAnswerFailed extends Schema.TaggedError<ChatAnswerFailed>()("ChatAnswerFailed", { reason: Schema.String }) {}
/** Its turns are as much as one answer can show. It can still be read and ended. */
export class TextChatFull extends Schema.TaggedError<TextChatFull>()("TextChatFull", {}) {}
/** Too many messages of the organization are being answered at this moment. */
export class TooManyChatMessages extends Schema.TaggedError<TooManyChatMessages>()("TooManyChatMessages", {
  retryAfterSeconds: Schema.Int
}) {}
