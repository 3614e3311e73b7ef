/** Refusals that concern text chats: rows of the table in Refusal.ts. */
import type {
  ChatAnswerFailed,
  ChatTurnNotFound,
  RunNotTextChat,
  TextChatConflict,
  TextChatEnded,
  TextChatFull,
  TextChatNotFound,
  TooManyChatMessages
} from "#core/chat/TextChat.ts"

export type TextChatError =
  | ChatAnswerFailed
  | ChatTurnNotFound
  | RunNotTextChat
  | TextChatConflict
  | TextChatEnded
  | TextChatFull
  | TextChatNotFound
  | TooManyChatMessages

/** Tells clients which revision to continue from. */
export interface RevisionConflict {
  readonly message: string
  readonly expected_revision: number
  readonly actual_revision: number
}

type Row<Error, Detail> = readonly [status: number, detail: (error: Error) => Detail]

export const textChatRefusals: {
  readonly ChatAnswerFailed: Row<ChatAnswerFailed, string>
  readonly ChatTurnNotFound: Row<ChatTurnNotFound, string>
  readonly RunNotTextChat: Row<RunNotTextChat, string>
  readonly TextChatConflict: Row<TextChatConflict, RevisionConflict>
  readonly TextChatEnded: Row<TextChatEnded, string>
  readonly TextChatFull: Row<TextChatFull, string>
  readonly TextChatNotFound: Row<TextChatNotFound, string>
  readonly TooManyChatMessages: Row<TooManyChatMessages, string>
} = {
  ChatAnswerFailed: [502, ({ reason }) => `Failed to execute text chat assistant turn: ${reason}`],
  ChatTurnNotFound: [404, () => "Turn not found in text chat session"],
  RunNotTextChat: [400, () => "Workflow run is not a text chat session"],
  TextChatConflict: [
    409,
    ({ actual, expected, isBusy }) => ({
      message: isBusy ? "Text chat session is being changed by another request" : "Text chat session revision conflict",
      expected_revision: expected,
      actual_revision: actual
    })
  ],
  TextChatEnded: [400, () => "Text chat session has ended"],
  TextChatFull: [409, () => "Text chat session is as long as one can be, begin another one"],
  TextChatNotFound: [404, () => "Text chat session not found"],
  TooManyChatMessages: [429, () => "Too many messages of the organization are being answered, try again in a few seconds"]
}
