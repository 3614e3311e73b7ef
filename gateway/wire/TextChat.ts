/** Text chats with an agent, as the existing product's Test Chat uses them. */
import Type, { type Static } from "typebox"
import { historyOf } from "#core/agent/conversation/StoredState.ts"
import type { Entry } from "#core/agent/conversation/History.ts"
import { currentTurns, discardedTurns, keptTurns } from "#core/chat/ChatTurns.ts"
import type { NewMessage, NewTextChat } from "#core/chat/ChatWork.ts"
import { type ChatTurn, type TextChat, textChatMode } from "#core/chat/TextChat.ts"
import type { AgentId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { id, instant, nullable, object, optional, orUndefined } from "#gateway/request/Field.ts"

export const TextChatsPath = Type.Object({ workflow_id: id<AgentId>() })
export const TextChatPath = Type.Object({ workflow_id: id<AgentId>(), run_id: id<RunId>() })

const expectedRevision = () =>
  optional(Type.Integer({ description: "The `revision` that was seen last. 409 if the chat has changed since." }))

export const CreateTextChat = Type.Object(
  {
    name: optional(Type.String({ maxLength: 255, description: "Of the run. If left out, one is made up." })),
    initial_context: optional(object("What the agent knows from the start, over the draft's `template_context_variables`.")),
    annotations: optional(object("Kept with the run."))
  },
  { title: "CreateTextChat" }
)

const madeByTester = { tester: { source: "workflow_editor", modality: "text" } }

export const newTextChatOf = (agentId: AgentId, body: Static<typeof CreateTextChat>, requestId: string | undefined): NewTextChat => ({
  agentId,
  name: body.name === null || body.name === "" ? undefined : body.name,
  initialContext: body.initial_context ?? {},
  annotations: { ...madeByTester, ...body.annotations },
  requestId
})

const longestMessage = 2000

export const SendTextChatMessage = Type.Object(
  {
    text: Type.String({ minLength: 1, maxLength: longestMessage, description: "What the callee would say." }),
    expected_revision: expectedRevision()
  },
  { title: "SendTextChatMessage" }
)

export const messageOf = (body: Static<typeof SendTextChatMessage>, requestId: string | undefined): NewMessage => ({
  text: body.text,
  expectedRevision: orUndefined(body.expected_revision),
  requestId
})

export const RewindTextChat = Type.Object(
  {
    cursor_turn_id: optional(
      Type.String({ maxLength: 64, description: "The turn after which the chat goes on. Null: the last one, which takes a rewind back." })
    ),
    expected_revision: expectedRevision()
  },
  { title: "RewindTextChat" }
)

export const EndTextChat = Type.Object({ expected_revision: expectedRevision() }, { title: "EndTextChat" })

const Message = Type.Object({ text: Type.String(), created_at: instant() }, { title: "TextChatMessage" })
const Event = Type.Object(
  {
    type: Type.Enum(["node_transition", "tool_call_started", "tool_call_result", "extraction_failed", "session_end"]),
    created_at: instant(),
    payload: object()
  },
  { title: "TextChatEvent" }
)
const checkpointVersion = 1
const Standing = {
  version: Type.Integer(),
  anchor_turn_id: nullable(Type.String({ description: "The turn that it comes after." })),
  current_node_id: nullable(Type.String()),
  gathered_context: object()
}
const Turn = Type.Object(
  {
    id: Type.String(),
    status: Type.Literal("completed"),
    created_at: instant(),
    user_message: nullable(Message),
    assistant_message: nullable(Message),
    events: Type.Array(Event),
    usage: Type.Object({ llm: object("Tokens by service and model."), tts: object(), stt: object() }),
    checkpoint_after_turn: Type.Object(Standing)
  },
  { title: "TextChatTurn" }
)
const SessionData = Type.Object(
  {
    version: Type.Integer(),
    status: Type.Enum(["idle", "rewound", "completed"]),
    cursor_turn_id: nullable(Type.String()),
    turns: Type.Array(Turn),
    discarded_future: Type.Array(
      Type.Object({ rewound_from_turn_id: nullable(Type.String()), discarded_at: instant(), turns: Type.Array(Turn) }),
      { description: "Turns that a message after a rewind has taken the place of." }
    ),
    simulator: Type.Object({ enabled: Type.Literal(false), config: object() })
  },
  { title: "TextChatSessionData" }
)
const Checkpoint = Type.Object(
  {
    ...Standing,
    messages: Type.Array(object(), { description: "What the language model is told next, in the form of chat completions." }),
    tool_state: object()
  },
  { title: "TextChatCheckpoint", description: "Where the next message goes on from." }
)

export const TextChatWire = Type.Object(
  {
    workflow_run_id: id<RunId>(),
    workflow_id: id<AgentId>(),
    name: Type.String(),
    mode: Type.Literal(textChatMode),
    state: Type.Enum(["running", "completed"]),
    is_completed: Type.Boolean(),
    revision: Type.Integer({ description: "Grows with each change." }),
    initial_context: nullable(object()),
    gathered_context: nullable(object()),
    annotations: nullable(object()),
    session_data: SessionData,
    checkpoint: Checkpoint,
    created_at: instant(),
    updated_at: nullable(instant())
  },
  { title: "TextChat" }
)

const standingOf = (turn: ChatTurn | undefined) => ({
  version: checkpointVersion,
  anchor_turn_id: turn?.id ?? null,
  current_node_id: turn?.node_id ?? null,
  gathered_context: turn?.gathered_context ?? {}
})

const turnWire = (turn: ChatTurn): Static<typeof Turn> => ({
  id: turn.id,
  status: "completed",
  created_at: turn.created_at,
  user_message: turn.user_message,
  assistant_message: turn.assistant_message,
  events: [...turn.events],
  usage: { llm: turn.usage.llm, tts: {}, stt: {} },
  checkpoint_after_turn: standingOf(turn)
})

const messageWire = (entry: Entry): JsonObject => {
  switch (entry._tag) {
    case "User":
      return { role: "user", content: entry.text }
    case "ToolResult":
      return { role: "tool", tool_call_id: entry.callId, content: JSON.stringify(entry.result) }
    case "Assistant": {
      const calls = entry.calls.map((call) => ({
        id: call.id,
        type: "function",
        function: { name: call.name, arguments: JSON.stringify(call.arguments) }
      }))
      return { role: "assistant", content: entry.text, ...(calls.length === 0 ? {} : { tool_calls: calls }) }
    }
  }
}

const sessionDataWire = ({ cursorTurnId, isCompleted, turns }: TextChat): Static<typeof SessionData> => ({
  version: 1,
  status: isCompleted ? "completed" : cursorTurnId === null ? "idle" : "rewound",
  cursor_turn_id: cursorTurnId,
  turns: keptTurns(turns).map(({ turn }) => turnWire(turn)),
  discarded_future: discardedTurns(turns).map((gone) => ({
    rewound_from_turn_id: gone.rewoundFrom,
    discarded_at: gone.discardedAt,
    turns: gone.turns.map(turnWire)
  })),
  simulator: { enabled: false, config: {} }
})

export const textChatWire = (chat: TextChat): Static<typeof TextChatWire> => ({
  workflow_run_id: chat.runId,
  workflow_id: chat.agentId,
  name: chat.name,
  mode: textChatMode,
  state: chat.isCompleted ? "completed" : "running",
  is_completed: chat.isCompleted,
  revision: chat.revision,
  initial_context: chat.initialContext,
  gathered_context: chat.gatheredContext,
  annotations: chat.annotations,
  session_data: sessionDataWire(chat),
  checkpoint: {
    ...standingOf(currentTurns(chat.turns, chat.cursorTurnId).at(-1)?.turn),
    messages: (chat.state === null ? [] : historyOf(chat.state)).map(messageWire),
    tool_state: {}
  },
  created_at: chat.createdAt.toISOString(),
  updated_at: chat.updatedAt.toISOString()
})
