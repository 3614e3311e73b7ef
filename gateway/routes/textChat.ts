/** /api/v1/workflow/{workflow_id}/text-chat/sessions: testing an agent in writing. */
import { Effect } from "effect"
import { TextChats } from "#core/chat/TextChats.ts"
import { RequestId } from "#core/Idempotency.ts"
import type { Caller } from "#core/organization/Caller.ts"
import type { Static } from "typebox"
import { idempotent } from "#gateway/request/idempotency.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { orUndefined } from "#gateway/request/Field.ts"
import {
  CreateTextChat,
  EndTextChat,
  messageOf,
  newTextChatOf,
  RewindTextChat,
  SendTextChatMessage,
  TextChatPath,
  TextChatsPath,
  TextChatWire,
  textChatWire
} from "#gateway/wire/TextChat.ts"

const sessions = "/api/v1/workflow/:workflow_id/text-chat/sessions"
const session = `${sessions}/:run_id`

const notThere = ["TextChatNotFound", "RunNotTextChat"] as const
const notChanged = [...notThere, "TextChatEnded", "TextChatConflict"] as const
const notAnswered = ["ChatAnswerFailed", "QuotaFull", "TooManyChatMessages"] as const

const chatOf = ({ organizationId }: Caller, { run_id, workflow_id }: Static<typeof TextChatPath>) => ({
  organizationId,
  agentId: workflow_id,
  runId: run_id
})

export const textChatRoutes = tagged(
  {
    name: "Text chats",
    about: "Trying an agent out in writing: nobody is called. Each chat is a run with the mode `textchat`.",
    scope: "agents"
  },
  [
    idempotent(
      route({
        method: "post",
        path: sessions,
        name: "createTextChat",
        summary: "Begin a text chat with an agent",
        description:
          "Runs the agent's draft, if there is one, and otherwise the published version; the chat keeps that version, whatever is edited later. Answers with the agent's opening. The chat ends when the agent ends it, on request, or when nobody writes for as long as the agent's `text_chat_inactivity_timeout_seconds`.",
        params: TextChatsPath,
        body: CreateTextChat,
        success: TextChatWire,
        errors: ["NotFound", "AgentUnpublished", ...notAnswered],
        handle: ({ body, caller, params }) =>
          Effect.gen(function* () {
            const chat = newTextChatOf(params.workflow_id, body, yield* RequestId)
            return textChatWire(yield* TextChats.use((_) => _.begin(caller.organizationId, chat)))
          }).pipe(Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with ID ${id} not found` }))))
      })
    ),
    route({
      method: "get",
      path: session,
      name: "getTextChat",
      summary: "Read a text chat",
      description:
        "The turns so far, and where the conversation stands in the agent's graph. 400 for a run that is a call, 404 if this agent has no such run. Reading it is noted in the audit log.",
      params: TextChatPath,
      notes: "run_id",
      success: TextChatWire,
      errors: notThere,
      handle: ({ caller, params }) => TextChats.use((_) => _.get(chatOf(caller, params))).pipe(Effect.map(textChatWire))
    }),
    idempotent(
      route({
        method: "post",
        path: `${session}/messages`,
        name: "sendTextChatMessage",
        summary: "Say something to the agent",
        description:
          "Answers with the agent's answer. If the language model fails or is too slow, the chat stays as it was, and the message may be sent again. A chat answers one message at a time.",
        params: TextChatPath,
        body: SendTextChatMessage,
        success: TextChatWire,
        errors: [...notChanged, "TextChatFull", ...notAnswered],
        handle: ({ body, caller, params }) =>
          Effect.gen(function* () {
            const message = messageOf(body, yield* RequestId)
            return textChatWire(yield* TextChats.use((_) => _.say(chatOf(caller, params), message)))
          })
      })
    ),
    route({
      method: "post",
      path: `${session}/rewind`,
      name: "rewindTextChat",
      summary: "Go back to an earlier turn",
      description:
        "The next message goes on after this turn, and moves the later ones to `discarded_future`. Until then they are still there, and another rewind may choose another turn.",
      params: TextChatPath,
      body: RewindTextChat,
      success: TextChatWire,
      errors: [...notChanged, "ChatTurnNotFound"],
      handle: ({ body, caller, params }) =>
        TextChats.use((_) =>
          _.rewind(chatOf(caller, params), { turnId: body.cursor_turn_id, expectedRevision: orUndefined(body.expected_revision) })
        ).pipe(Effect.map(textChatWire))
    }),
    route({
      method: "post",
      path: `${session}/end`,
      name: "endTextChat",
      summary: "End a text chat",
      description: "As a callee who hangs up. A chat that is over stays as it is.",
      params: TextChatPath,
      body: EndTextChat,
      success: TextChatWire,
      errors: [...notThere, "TextChatConflict", "TooManyChatMessages"],
      handle: ({ body, caller, params }) =>
        TextChats.use((_) => _.end(chatOf(caller, params), { expectedRevision: orUndefined(body.expected_revision) })).pipe(
          Effect.map(textChatWire)
        )
    })
  ]
)
