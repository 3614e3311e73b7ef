/** The body of a chat-completions request. */
import type { ModelMessage, ModelRequest, ModelTool } from "#core/model/LanguageModel.ts"
import type { JsonObject } from "#core/Json.ts"

export interface ChatSettings {
  /** The address that `/chat/completions` is appended to. */
  readonly baseUrl: URL
  /** Empty for servers that need none. */
  readonly apiKey: string
  readonly model: string
  /** Undefined: the server decides. */
  readonly temperature: number | undefined
  /** Undefined: the server decides. */
  readonly maxTokens: number | undefined
  /** Newer models of OpenAI refuse `max_tokens`. */
  readonly tokenLimitName: "max_tokens" | "max_completion_tokens"
  /** For servers that lose tool calls when they stream. */
  readonly isWholeWithTools: boolean
  /** For servers that refuse `stream_options`. */
  readonly omitsStreamOptions: boolean
  /** For models whose prompt already opens the reasoning: an answer is silent up to its first `</think>`. */
  readonly startsThinking: boolean
  /** Further members of the body, such as `reasoning_effort`. */
  readonly extraBody: JsonObject
}

/** Stands for the missing result of a tool call, because services refuse a history in which a call has no result. */
const unanswered: JsonObject = { status: "cancelled" }

export const chatBody = (settings: ChatSettings, request: ModelRequest): JsonObject => {
  const { extraBody, isWholeWithTools, maxTokens, model, omitsStreamOptions, temperature, tokenLimitName } = settings
  const [onlyTool] = request.tools
  const streams = !(isWholeWithTools && onlyTool !== undefined)
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { [tokenLimitName]: maxTokens }),
    ...extraBody,
    model,
    messages: [...(request.instructions === "" ? [] : [{ role: "system", content: request.instructions }]), ...history(request.messages)],
    // Services refuse an empty list.
    ...(onlyTool === undefined ? {} : { tools: request.tools.map(toolOf) }),
    ...(request.purpose === "extract" && onlyTool !== undefined
      ? { tool_choice: { type: "function", function: { name: onlyTool.name } } }
      : {}),
    stream: streams,
    ...(streams && !omitsStreamOptions ? { stream_options: { include_usage: true } } : {})
  }
}

const toolOf = ({ description, name, parameters }: ModelTool) => ({ type: "function", function: { name, description, parameters } })

const history = (messages: ReadonlyArray<ModelMessage>): ReadonlyArray<JsonObject> => {
  const answered = new Set(messages.flatMap((message) => (message._tag === "ToolResult" ? [message.callId] : [])))
  return messages.flatMap((message): ReadonlyArray<JsonObject> => {
    if (message._tag === "User") return [{ role: "user", content: message.text }]
    if (message._tag === "ToolResult") return [resultOf(message.callId, message.result)]
    const missing = message.calls.filter(({ id }) => !answered.has(id))
    return [assistantOf(message), ...missing.map(({ id }) => resultOf(id, unanswered))]
  })
}

const resultOf = (callId: string, result: JsonObject) => ({ role: "tool", tool_call_id: callId, content: JSON.stringify(result) })

const assistantOf = ({ calls, text }: Extract<ModelMessage, { _tag: "Assistant" }>): JsonObject => ({
  role: "assistant",
  // Some servers refuse null, others a message without the member.
  content: text,
  ...(calls.length === 0
    ? {}
    : {
        tool_calls: calls.map(({ id, name, arguments: given }) => ({
          id,
          type: "function",
          function: { name, arguments: JSON.stringify(given) }
        }))
      })
})
