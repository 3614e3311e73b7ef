/** The body of a chat-completions request. */
import type { ModelMessage, ModelRequest, ModelTool, ModelToolCall } from "#core/model/LanguageModel.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelSettings } from "#adapters/voice/shared/modelFields.ts"
import { unanswered } from "#adapters/voice/shared/Turns.ts"
import { alternating, type ChatMessage, withoutSystem } from "./MessageOrder.ts"
import type { Habits } from "./ServerHabits.ts"

export interface ChatSettings extends ModelSettings {
  /** Carry the key. */
  readonly headers: Readonly<Record<string, string>>
  /** Newer models of OpenAI refuse `max_tokens`. */
  readonly tokenLimitName: "max_tokens" | "max_completion_tokens"
  /** For servers that lose tool calls when they stream. */
  readonly isWholeWithTools: boolean
  /** For servers that refuse `stream_options`. */
  readonly omitsStreamOptions: boolean
  /** For models whose prompt already opens the reasoning: an answer is silent up to its first `</think>`. */
  readonly startsThinking: boolean
}

export const chatBody = (settings: ChatSettings, request: ModelRequest, habits: Habits): JsonObject => {
  const { extraBody, isWholeWithTools, maxTokens, model, omitsStreamOptions, temperature, tokenLimitName } = settings
  const [onlyTool] = request.tools
  const streams = !(isWholeWithTools && onlyTool !== undefined)
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { [tokenLimitName]: maxTokens }),
    ...extraBody,
    model,
    messages: messagesOf(request, habits),
    // Services refuse an empty list.
    ...(onlyTool === undefined || habits.describesTools ? {} : toolsOf(request, onlyTool, habits)),
    stream: streams,
    ...(streams && !omitsStreamOptions ? { stream_options: { include_usage: true } } : {})
  }
}

const toolOf = ({ description, name, parameters }: ModelTool) => ({ type: "function", function: { name, description, parameters } })

const toolsOf = ({ purpose, tools }: ModelRequest, onlyTool: ModelTool, habits: Habits): JsonObject => ({
  tools: tools.map(toolOf),
  ...(purpose === "extract" ? toolChoiceOf(onlyTool, habits) : {})
})

const toolChoiceOf = ({ name }: ModelTool, { toolChoice }: Habits): JsonObject => {
  if (toolChoice === "none") return {}
  return { tool_choice: toolChoice === "required" ? "required" : { type: "function", function: { name } } }
}

/** For models whose template has no place for tools. */
const described = ({ instructions, tools }: ModelRequest): string =>
  tools.length === 0
    ? instructions
    : [
        instructions,
        'You can use the tools below. To use one, write <tool_call>{"name": its name, "arguments": an object}</tool_call>, and nothing after it.',
        ...tools.map((tool) => JSON.stringify(tool))
      ].join("\n\n")

const messagesOf = (request: ModelRequest, habits: Habits) => {
  const { messages } = request
  const instructions = habits.describesTools ? described(request) : request.instructions
  const all: ReadonlyArray<ChatMessage> = [
    ...(instructions === "" ? [] : [{ role: "system", content: instructions } as const]),
    ...history(messages, habits)
  ]
  const ordered = habits.alternates ? alternating(all) : all
  return habits.refusesSystem ? withoutSystem(ordered) : ordered
}

const history = (messages: ReadonlyArray<ModelMessage>, habits: Habits): ReadonlyArray<ChatMessage> => {
  const answered = new Set(messages.flatMap((message) => (message._tag === "ToolResult" ? [message.callId] : [])))
  return messages.flatMap((message): ReadonlyArray<ChatMessage> => {
    if (message._tag === "User") return [{ role: "user", content: message.text }]
    if (message._tag === "ToolResult") return [resultOf(message.callId, message.result, habits)]
    const missing = message.calls.filter(({ id }) => !answered.has(id))
    return [assistantOf(message, habits), ...missing.map(({ id }) => resultOf(id, unanswered, habits))]
  })
}

const resultOf = (callId: string, result: JsonObject, { refusesTools }: Habits): ChatMessage => {
  const content = JSON.stringify(result)
  return refusesTools
    ? { role: "user", content: `<tool_response>${content}</tool_response>` }
    : { role: "tool", tool_call_id: callId, content }
}

const assistantOf = (
  { calls, members, text }: Extract<ModelMessage, { _tag: "Assistant" }>,
  { refusesMembers, refusesTools }: Habits
): ChatMessage => ({
  ...(refusesMembers ? {} : members),
  role: "assistant",
  // Some servers refuse null, others a message without the member.
  content: refusesTools ? [text, ...calls.map(writtenCall)].filter((part) => part !== "").join("\n") : text,
  ...(calls.length === 0 || refusesTools ? {} : { tool_calls: calls.map((call) => toolCallOf(call, !refusesMembers)) })
})

/** As most templates write it. */
const writtenCall = ({ arguments: given, name }: ModelToolCall): string =>
  `<tool_call>${JSON.stringify({ name, arguments: given })}</tool_call>`

const toolCallOf = ({ arguments: given, id, members = {}, name }: ModelToolCall, hasMembers: boolean): JsonObject => {
  const ofFunction = members["function"]
  return {
    ...(hasMembers ? members : {}),
    id,
    type: "function",
    function: { ...(hasMembers && isObject(ofFunction) ? ofFunction : {}), name, arguments: JSON.stringify(given) }
  }
}
