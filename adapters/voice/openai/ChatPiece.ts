/** What is in a chunk of a chat completion, or in a whole one. */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelUsage } from "#core/model/LanguageModel.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import type { AnswerPiece, Why } from "#adapters/voice/shared/Answer.ts"
import { withUnknown } from "#adapters/voice/shared/Members.ts"
import { midStream } from "#adapters/voice/shared/modelErrors.ts"

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

const progressNames = ["tool_calls", "content", "reasoning_content", "reasoning", "thinking"]
const isProgress = (message: unknown): boolean => contentOf(message) !== "" || progressNames.some((name) => hasLength(at(message, name)))
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

const knownOfMessage = ["role", "content", "tool_calls", "refusal"]

/** `sent`: the body of the request and the key. */
export const chatPiece = (chunk: JsonObject, sent: string): AnswerPiece => {
  if (isObject(chunk["error"]) || typeof chunk["error"] === "string") return { error: midStream(chunk, sent) }
  const choices = chunk["choices"]
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  const delta = at(choice, "delta")
  const message = delta ?? at(choice, "message")
  const finish = textAt(choice, "finish_reason") ?? ""
  return {
    text: contentOf(message),
    isWhole: delta === undefined,
    calls: at(message, "tool_calls"),
    members: withUnknown({}, message, knownOfMessage),
    usage: usageOf(chunk),
    why: finish === "" ? undefined : (reasons[finish] ?? "stop"),
    hasProgress: isProgress(message)
  }
}
