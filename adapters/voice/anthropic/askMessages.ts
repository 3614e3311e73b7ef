/** One request for a message: how it is sent, what its events mean, and why it was refused. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { ModelError, type ModelRequest, type ModelUsage } from "#core/model/LanguageModel.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, parse, textAt } from "#adapters/shared/Json.ts"
import { Answer, type AnswerPiece, type Why } from "#adapters/voice/shared/Answer.ts"
import type { Asking, Refusal } from "#adapters/voice/shared/AnswerStream.ts"
import { midStream, refusedReply } from "#adapters/voice/shared/modelErrors.ts"
import type { ModelSettings } from "#adapters/voice/shared/modelFields.ts"
import { messagesBody, thoughtName } from "./MessagesRequest.ts"

const VERSION = "2023-06-01"

export const headersOf = (apiKey: string) => ({ "x-api-key": apiKey, "anthropic-version": VERSION })

export const askMessages = (settings: ModelSettings, request: ModelRequest): Asking => {
  const { apiKey, baseUrl } = settings
  const body = JSON.stringify(messagesBody(settings, request))
  const sent = body + apiKey
  const attempt = {
    path: pathUnder(baseUrl, "/v1/messages"),
    headers: headersOf(apiKey),
    body,
    answer: new Answer({ request, thinking: "never", read: eventReader(sent) })
  }
  return { current: () => attempt, refused: (refusal) => errorOf(refusal, sent) }
}

const errorOf = (refusal: Refusal, sent: string): ModelError => {
  const reply = parse(refusal.text)
  const error = refusedReply(refusal, reply, sent)
  // An account without credit gets the same type as a request that is wrong.
  const hasNoCredit = refusal.status === 400 && /credit balance/i.test(textAt(reply, "error", "message") ?? "")
  return hasNoCredit ? new ModelError({ reason: "credit", isRetryable: false, message: error.message }) : error
}

/** The statuses that the errors would have had before the answer began: https://platform.claude.com/docs/en/api/errors */
const statuses: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529
}

const reasons: Readonly<Record<string, Why>> = {
  max_tokens: "length",
  model_context_window_exceeded: "length",
  tool_use: "tool_calls",
  refusal: "filtered"
}

const countNames = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens"] as const

/** Each event has totals, but not all of them. */
const usageCounter = () => {
  const counts = new Map<string, number>()
  const of = (name: (typeof countNames)[number]): number => counts.get(name) ?? 0
  return (sent: unknown): ModelUsage => {
    for (const name of countNames) counts.set(name, numberAt(sent, name) ?? of(name))
    return {
      promptTokens: of("input_tokens") + of("cache_read_input_tokens") + of("cache_creation_input_tokens"),
      completionTokens: of("output_tokens"),
      cachedTokens: of("cache_read_input_tokens")
    }
  }
}

const callBegun = (index: unknown, { id, input, name, type: _, ...members }: JsonObject): JsonObject => ({
  ...members,
  index,
  id,
  function: { name, arguments: isObject(input) && Object.keys(input).length > 0 ? input : "" }
})

/** Reads the events of one answer, in their order. */
const eventReader = (sent: string) => {
  const thoughts = new Map<unknown, { readonly [member: string]: unknown; thinking?: string; signature?: string }>()
  const count = usageCounter()

  const begun = ({ content_block: block, index }: JsonObject): AnswerPiece => {
    if (!isObject(block)) return {}
    if (block["type"] === "text") return { text: textAt(block, "text") ?? "" }
    if (block["type"] === "tool_use") return { calls: [callBegun(index, block)], hasProgress: true }
    if (block["type"] === "thinking" || block["type"] === "redacted_thinking") thoughts.set(index, { ...block })
    return { hasProgress: true }
  }
  const continued = ({ delta, index }: JsonObject): AnswerPiece => {
    const thought = thoughts.get(index)
    if (thought !== undefined) {
      if (textAt(delta, "type") === "thinking_delta") thought.thinking = (thought.thinking ?? "") + (textAt(delta, "thinking") ?? "")
      if (textAt(delta, "type") === "signature_delta") thought.signature = textAt(delta, "signature") ?? ""
    }
    const json = textAt(delta, "partial_json")
    return {
      text: textAt(delta, "text") ?? "",
      ...(json === undefined ? {} : { calls: [{ index, function: { arguments: json } }] }),
      hasProgress: true
    }
  }
  return (event: JsonObject): AnswerPiece => {
    switch (event["type"]) {
      case "message_start":
        return { usage: count(at(event, "message", "usage")) }
      case "content_block_start":
        return begun(event)
      case "content_block_delta":
        return continued(event)
      case "content_block_stop": {
        const thought = thoughts.get(event["index"])
        return thought === undefined ? {} : { members: { [thoughtName]: [thought] } }
      }
      case "message_delta": {
        const reason = textAt(event, "delta", "stop_reason")
        return { usage: count(event["usage"]), why: reason === undefined ? undefined : (reasons[reason] ?? "stop") }
      }
      case "message_stop":
        return { isEnd: true }
      case "error": {
        const type = textAt(event, "error", "type") ?? ""
        return { error: midStream({ error: { type, code: statuses[type] } }, sent) }
      }
      default:
        // Pings, and what may be added.
        return {}
    }
  }
}
