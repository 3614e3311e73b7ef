/** Port: continues a conversation from one message of a text chat to the next. */
import { Context, type Effect } from "effect"
import type { ConversationEvent, ConversationPlan, ConversationState } from "#core/agent/conversation/ConversationState.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { ChatAnswerFailed, ChatEvent, ChatUsage } from "./TextChat.ts"

export interface ChatPrompt {
  /** Whose tools are used. */
  readonly organizationId: OrganizationId
  readonly plan: ConversationPlan
  readonly model: OpenLanguageModel
  readonly state: ConversationState
  readonly event: ConversationEvent
}

export interface ChatAnswer {
  /** It is the callee's turn, or the conversation is over. */
  readonly state: ConversationState
  /** Empty when the agent said nothing. */
  readonly text: string
  readonly events: ReadonlyArray<ChatEvent>
  readonly usage: ChatUsage
}

export class ChatTalk extends Context.Service<
  ChatTalk,
  {
    /** Stores nothing. Gives up well before a client would. */
    readonly answer: (prompt: ChatPrompt) => Effect.Effect<ChatAnswer, ChatAnswerFailed>
  }
>()("core/chat/ChatTalk") {}
