/** Why OpenAI's server refuses a request; undefined if it does not. */

export interface Message {
  readonly role?: unknown
  readonly content?: unknown
  readonly tool_call_id?: unknown
  readonly tool_calls?: ReadonlyArray<{ readonly id: string; readonly [member: string]: unknown }>
  readonly [member: string]: unknown
}
export interface ChatBody {
  readonly model?: unknown
  readonly messages?: ReadonlyArray<Message>
  readonly stream?: boolean
  readonly stream_options?: { readonly include_usage?: boolean }
  readonly tools?: ReadonlyArray<{ readonly function?: { readonly name?: unknown } }>
  readonly tool_choice?: unknown
}

const roles = ["system", "developer", "user", "assistant", "tool"]
const isToolName = (name: unknown) => typeof name === "string" && /^[a-zA-Z0-9_-]{1,64}$/.test(name)

export const whyRefused = (body: ChatBody | undefined): string | undefined => {
  if (typeof body?.model !== "string" || body.model === "") return "you must provide a model parameter"
  const { messages, tools } = body
  if (!Array.isArray(messages) || messages.length === 0) return "Invalid 'messages': empty array"
  if (messages.some(({ role }) => !roles.includes(String(role)))) return "Invalid value for 'role'"
  if (tools?.length === 0) return "Invalid 'tools': empty array"
  if (tools?.some((tool) => !isToolName(tool.function?.name))) return "Invalid 'tools[0].function.name'"
  if (body.stream !== true && body.stream_options !== undefined)
    return "The 'stream_options' parameter is only allowed when 'stream' is enabled"
  return whyHistoryRefused(messages)
}

/** Each call has its result right after the message that makes it, and each result its call. */
const whyHistoryRefused = (messages: ReadonlyArray<Message>): string | undefined => {
  let open = new Set<string>()
  for (const { role, tool_call_id: id, tool_calls: calls = [] } of messages) {
    if (role === "tool") {
      if (!open.delete(String(id))) return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
      continue
    }
    if (open.size > 0) return "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'"
    open = new Set(calls.map((call) => call.id))
  }
  return open.size > 0 ? "An assistant message with 'tool_calls' must be followed by tool messages" : undefined
}
