/** Why Anthropic's service refuses a request; undefined if it does not. */
import { isObject, type Json } from "#test/emulators/shared/json.ts"

interface Block extends Json {
  readonly type?: string
}
interface Message {
  readonly role?: unknown
  readonly content?: string | ReadonlyArray<Block>
}
export interface MessagesBody extends Json {
  readonly messages?: ReadonlyArray<Message>
  readonly system?: string | ReadonlyArray<Block>
  readonly tools?: ReadonlyArray<Block>
}

const known = [
  "cache_control",
  "max_tokens",
  "messages",
  "metadata",
  "model",
  "service_tier",
  "stop_sequences",
  "stream",
  "system",
  "temperature",
  "thinking",
  "tool_choice",
  "tools"
]

export const blocksIn = ({ content = [] }: Message): ReadonlyArray<Block> =>
  typeof content === "string" ? [{ type: "text", text: content }] : content
const idsIn = (message: Message | undefined, type: string, name: string): ReadonlyArray<unknown> =>
  message === undefined ? [] : blocksIn(message).flatMap((block) => (block.type === type ? [block[name]] : []))
const isThinking = ({ type = "" }: Block): boolean => /thinking$/.test(type)

export const whyRefused = (body: MessagesBody | undefined): string | undefined => {
  if (body === undefined) return "The request body is not valid JSON"
  const stray = Object.keys(body).find((name) => !known.includes(name))
  if (stray !== undefined) return `${stray}: Extra inputs are not permitted`
  if (typeof body["model"] !== "string" || body["model"] === "") return "model: Field required"
  if (!Number.isInteger(body["max_tokens"])) return "max_tokens: Field required"
  const { messages, tools = [] } = body
  if (!Array.isArray(messages) || messages.length === 0) return "messages: at least one message is required"
  return whyMessagesRefused(messages) ?? whyToolsRefused(body, messages, tools) ?? whyMarksRefused(body, messages, tools)
}

const whyMessagesRefused = (messages: ReadonlyArray<Message>): string | undefined => {
  for (const [index, message] of messages.entries()) {
    const expected = index % 2 === 0 ? "user" : "assistant"
    if (message.role !== expected) return `messages.${index}: roles must alternate between "user" and "assistant"`
    const blocks = blocksIn(message)
    if (blocks.length === 0) return `messages.${index}: all messages must have non-empty content`
    if (blocks.some(({ text, type }) => type === "text" && String(text).trim() === ""))
      return `messages.${index}: text content blocks must contain non-whitespace text`
    const why = whyResultsRefused(messages[index - 1], message, index) ?? whyUsesRefused(messages, message, index)
    if (why !== undefined) return why
  }
  return messages.at(-1)?.role === "user" ? undefined : "This model does not support assistant message prefill"
}

/** The results stand first, and each belongs to a call of the message before. */
const whyResultsRefused = (before: Message | undefined, message: Message, index: number): string | undefined => {
  const called = idsIn(before, "tool_use", "id")
  const results = idsIn(message, "tool_result", "tool_use_id")
  const stray = results.find((id) => !called.includes(id))
  if (stray !== undefined) return `messages.${index}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${String(stray)}`
  const first = blocksIn(message).slice(0, results.length)
  return first.every(({ type }) => type === "tool_result")
    ? undefined
    : `messages.${index}: \`tool_result\` blocks must come before any other content`
}

const whyUsesRefused = (messages: ReadonlyArray<Message>, message: Message, index: number): string | undefined => {
  const results = idsIn(messages[index + 1], "tool_result", "tool_use_id")
  const lost = idsIn(message, "tool_use", "id").find((id) => !results.includes(id))
  if (lost !== undefined)
    return `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${String(lost)}`
  const wrong = blocksIn(message).find(({ id, input, name, type }) => type === "tool_use" && !(isObject(input) && isName(name) && isId(id)))
  return wrong === undefined ? undefined : `messages.${index}: a tool_use block is invalid`
}
const isName = (name: unknown): boolean => typeof name === "string" && /^[a-zA-Z0-9_-]{1,128}$/.test(name)
const isId = (id: unknown): boolean => typeof id === "string" && /^[a-zA-Z0-9_-]+$/.test(id)

const whyToolsRefused = (body: MessagesBody, messages: ReadonlyArray<Message>, tools: ReadonlyArray<Block>): string | undefined => {
  const isUsed = messages.some((message) => blocksIn(message).some(({ type = "" }) => /^tool_/.test(type)))
  if (isUsed && tools.length === 0) return "Requests which include `tool_use` or `tool_result` blocks must define tools"
  if (tools.some(({ input_schema, name }) => !(isName(name) && isObject(input_schema) && input_schema["type"] === "object")))
    return "tools.0.custom: invalid name or input_schema"
  const choice = body["tool_choice"]
  if (!isObject(choice)) return undefined
  if (choice["type"] === "tool" && !tools.some(({ name }) => name === choice["name"])) return `Tool '${String(choice["name"])}' not found`
  const isForced = choice["type"] === "tool" || choice["type"] === "any"
  return isForced && isObject(body["thinking"]) ? "Thinking may not be enabled when tool_choice forces tool use." : undefined
}

const whyMarksRefused = (
  { system = [] }: MessagesBody,
  messages: ReadonlyArray<Message>,
  tools: ReadonlyArray<Block>
): string | undefined => {
  const blocks = [...tools, ...(typeof system === "string" ? [] : system), ...messages.flatMap(blocksIn)]
  const marked = blocks.filter(({ cache_control }) => cache_control !== undefined)
  if (marked.length > 4) return `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`
  return marked.some(isThinking) ? "cache_control cannot be set for thinking blocks" : undefined
}
