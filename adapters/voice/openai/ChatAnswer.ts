/** Turns the chunks of a chat completion, or a whole one, into the parts of an answer. It does no I/O and keeps no time. */
import { randomUUID } from "node:crypto"
import { isObject, type JsonObject } from "#core/Json.ts"
import {
  type ModelError,
  type ModelPart,
  type ModelRequest,
  type ModelToolCall,
  type ModelUsage,
  noTokens
} from "#core/model/LanguageModel.ts"
import { at, numberAt, parse, textAt } from "#adapters/shared/Json.ts"
import { broken, midStream, tooLarge } from "./chatErrors.ts"
import { makeSpeakable } from "./Speakable.ts"
import { type BuiltCall, makeToolCallParts } from "./ToolCallParts.ts"

export interface ChatStep {
  readonly parts: ReadonlyArray<ModelPart>
  readonly error?: ModelError
  /** The model is making progress: the step holds text, reasoning or a piece of a tool call. */
  readonly hasProgress?: boolean
}

export interface ChatAnswer {
  /** Takes the data of the next event, or the body of a reply that is not a stream. */
  readonly push: (data: string) => ChatStep
  /** To be called after `[DONE]`, or when the reply has ended. The last part is `Finished`, unless there is an error. */
  readonly end: () => ChatStep
  /** The model has said why it stopped. Only the usage may still follow. */
  readonly hasFinished: () => boolean
}

const MOST_TEXT = 32_768

type Why = Extract<ModelPart, { _tag: "Finished" }>["why"]
const reasons: Readonly<Record<string, Why>> = {
  length: "length",
  max_tokens: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "filtered"
}

/** The content of a message or delta: a text, or a list of which some parts are text. */
const contentOf = (message: unknown): string => {
  const content = at(message, "content")
  if (!Array.isArray(content)) return typeof content === "string" ? content : (textAt(message, "refusal") ?? "")
  return content.map((part: unknown) => (textAt(part, "type") === "text" ? (textAt(part, "text") ?? "") : "")).join("")
}

const thoughtNames = ["reasoning_content", "reasoning", "thinking"]
const isProgress = (message: unknown): boolean =>
  contentOf(message) !== "" || ["tool_calls", "content", ...thoughtNames].some((name) => hasLength(at(message, name)))
const hasLength = (value: unknown): boolean => (typeof value === "string" || Array.isArray(value)) && value.length > 0

const usageOf = (chunk: unknown): ModelUsage | undefined => {
  // Groq sends the usage of a stream in a separate member.
  const usage = [at(chunk, "usage"), at(chunk, "x_groq", "usage")].find(isObject)
  if (usage === undefined) return undefined
  return {
    promptTokens: numberAt(usage, "prompt_tokens") ?? 0,
    completionTokens: numberAt(usage, "completion_tokens") ?? 0,
    cachedTokens: numberAt(usage, "prompt_tokens_details", "cached_tokens") ?? numberAt(usage, "prompt_cache_hit_tokens") ?? 0
  }
}

/** The JSON object in a text, regardless of what surrounds it. */
const objectIn = (text: string): JsonObject | undefined => {
  const parsed = parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1))
  return isObject(parsed) ? parsed : undefined
}

// Nine letters and digits: the longest id that every service accepts.
const newId = (): string => randomUUID().replaceAll("-", "").slice(0, 9)

/** Calls with ids that do not occur in the conversation; or why they cannot be made. */
const finishedCalls = (
  built: ReadonlyArray<BuiltCall>,
  request: ModelRequest
): { readonly calls: ReadonlyArray<ModelToolCall> } | { readonly error: ModelError } => {
  const taken = new Set(request.messages.flatMap((message) => (message._tag === "Assistant" ? message.calls.map(({ id }) => id) : [])))
  const calls: Array<ModelToolCall> = []
  for (const { arguments: given, id, name } of built) {
    if (name === "") return { error: broken("a tool call has no name") }
    if (given === undefined) return { error: broken("the arguments of a tool call are not a JSON object") }
    const ownId = id === "" || taken.has(id) ? newId() : id
    taken.add(ownId)
    calls.push({ id: ownId, name, arguments: given })
  }
  return { calls }
}

export const makeChatAnswer = (request: ModelRequest, startsThinking: boolean, sent: string): ChatAnswer => {
  const speakable = makeSpeakable(startsThinking)
  const toolCalls = makeToolCallParts((name) => request.tools.some((tool) => tool.name === name))
  const isExtraction = request.purpose === "extract"
  let usage = noTokens
  let why: Why | undefined
  let text = ""

  const speech = (said: string): ReadonlyArray<ModelPart> => {
    text += said
    return said === "" || isExtraction ? [] : [{ _tag: "Text", text: said }]
  }
  const push = (data: string): ChatStep => {
    const chunk = parse(data)
    if (!isObject(chunk)) return { parts: [], error: broken("a piece of the answer is not JSON") }
    if (isObject(chunk["error"]) || typeof chunk["error"] === "string") return { parts: [], error: midStream(chunk, sent) }
    usage = usageOf(chunk) ?? usage
    const choices = chunk["choices"]
    const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
    const message = at(choice, "delta") ?? at(choice, "message")
    const parts = speech(speakable.push(contentOf(message)))
    if (!toolCalls.push(at(message, "tool_calls"))) return { parts, error: tooLarge("tool calls") }
    if (text.length > MOST_TEXT) return { parts, error: tooLarge("words") }
    const finish = textAt(choice, "finish_reason")
    if (finish !== undefined && finish !== "") why = reasons[finish] ?? "stop"
    return { parts, hasProgress: isProgress(message) }
  }
  const end = (): ChatStep => {
    const rest = speech(speakable.end())
    const built = finishedCalls(toolCalls.calls(), request)
    if ("error" in built) return { parts: rest, error: built.error }
    const all = built.calls.length === 0 && isExtraction ? extracted(text, request) : built.calls
    if (all === undefined) return { parts: rest, error: broken("the answer holds no JSON object") }
    const parts = all.map((call): ModelPart => ({ _tag: "ToolCall", call }))
    // With calls, some servers say "stop", or give no reason at all.
    const finished: ModelPart = { _tag: "Finished", why: all.length > 0 && why !== "filtered" ? "tool_calls" : (why ?? "stop"), usage }
    return { parts: [...rest, ...parts, finished] }
  }
  return { push, end, hasFinished: () => why !== undefined }
}

/** The variables in the answer of a model that answers in text although a call was requested. */
const extracted = (text: string, { tools }: ModelRequest): ReadonlyArray<ModelToolCall> | undefined => {
  const [tool] = tools
  const variables = objectIn(text)
  return tool === undefined || variables === undefined ? undefined : [{ id: newId(), name: tool.name, arguments: variables }]
}
