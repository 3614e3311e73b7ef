/**
 * Testing agents in writing. A message is answered from the state after the previous turn, and its turn is stored with the new state in one
 * transaction, under the revision that was read: of two messages at once only one can count, and a process that dies in between leaves the chat
 * unchanged.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentNotFound, AgentUnpublished } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import type { OrganizationId } from "#core/Id.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import type { QuotaFull } from "#core/organization/Quota.ts"
import { Sealer } from "#core/Sealer.ts"
import { CallPrices } from "#core/usage/ServicePrices.ts"
import { ChatPlaces } from "./ChatPlaces.ts"
import { ChatTalk } from "./ChatTalk.ts"
import { type ChatWork, type Expected, found, type NewMessage, type NewTextChat } from "./ChatWork.ts"
import * as ending from "./endingChats.ts"
import type {
  ChatAnswerFailed,
  ChatTurnNotFound,
  RunNotTextChat,
  TextChat,
  TextChatConflict,
  TextChatEnded,
  TextChatFull,
  TextChatNotFound,
  TooManyChatMessages
} from "./TextChat.ts"
import type { ChatOf } from "./TextChatStore.ts"
import * as writing from "./writingChats.ts"

type NotThere = TextChatNotFound | RunNotTextChat
type NotChanged = NotThere | TextChatConflict | TextChatEnded

export class TextChats extends Context.Service<
  TextChats,
  {
    /** The agent has opened, or the chat is not there. */
    readonly begin: (
      organizationId: OrganizationId,
      chat: NewTextChat
    ) => Effect.Effect<TextChat, AgentNotFound | AgentUnpublished | ChatAnswerFailed | QuotaFull | TooManyChatMessages>
    readonly get: (chat: ChatOf) => Effect.Effect<TextChat, NotThere>
    readonly say: (
      chat: ChatOf,
      message: NewMessage
    ) => Effect.Effect<TextChat, NotChanged | TextChatFull | ChatAnswerFailed | QuotaFull | TooManyChatMessages>
    /** The next message continues after this turn; null: after the last one. Until then, another rewind can change that. */
    readonly rewind: (
      chat: ChatOf,
      to: Expected & { readonly turnId: string | null }
    ) => Effect.Effect<TextChat, NotChanged | ChatTurnNotFound>
    /** Like a callee who hangs up. A chat that is over stays as it is. */
    readonly end: (chat: ChatOf, expected: Expected) => Effect.Effect<TextChat, NotThere | TextChatConflict | TooManyChatMessages>
    /** Ends the chats of all organizations that nobody has written to for too long. */
    readonly expire: Effect.Effect<void>
  }
>()("core/chat/TextChats") {
  static readonly layer = Layer.effect(
    TextChats,
    Effect.gen(function* () {
      const work: ChatWork = {
        sql: yield* SqlClient.SqlClient,
        agents: yield* Agents,
        versions: yield* AgentVersions,
        chosen: yield* AgentServices,
        talk: yield* ChatTalk,
        sealer: yield* Sealer,
        places: new ChatPlaces(),
        prices: yield* CallPrices
      }
      return TextChats.of({
        begin: Effect.fn("TextChats.begin")((organizationId, chat) => writing.begin(work, organizationId, chat)),
        get: Effect.fn("TextChats.get")((chat) => found(work, chat)),
        say: Effect.fn("TextChats.say")((chat, message) => writing.say(work, chat, message)),
        rewind: Effect.fn("TextChats.rewind")((chat, to) => writing.rewind(work, chat, to)),
        end: Effect.fn("TextChats.end")((chat, expected) => ending.end(work, chat, expected)),
        expire: ending.expireAll(work)
      })
    })
  ).pipe(Layer.provide([Agents.layer, AgentVersions.layer]))
}
