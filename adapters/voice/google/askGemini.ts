/** One request for content: how it is sent, what its chunks mean, and why it was refused. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { ModelError, type ModelRequest, type ModelTool, type ModelUsage } from "#core/model/LanguageModel.ts"
import { pathUnder } from "#adapters/shared/HttpClient.ts"
import { at, numberAt, parse, textAt } from "#adapters/shared/Json.ts"
import { Answer, type AnswerPiece, type Why } from "#adapters/voice/shared/Answer.ts"
import type { Asking, Refusal } from "#adapters/voice/shared/AnswerStream.ts"
import { broken, refusedReply } from "#adapters/voice/shared/modelErrors.ts"
import type { ModelSettings } from "#adapters/voice/shared/modelFields.ts"
import { geminiBody, wireName } from "./GeminiRequest.ts"

/** `alwaysThink`: the models that have refused a limit of thought. They are added to it. */
export const askGemini = (settings: ModelSettings, request: ModelRequest, alwaysThink: Set<string>): Asking => {
  const { apiKey, baseUrl } = settings
  // The second was switched off; its successor takes the same requests, and the existing product puts it in its place as well.
  const model = settings.model.replace(/^models\//, "").replace(/^gemini-2\.0-flash/, "gemini-2.5-flash")
  const attempt = (thinksAnyhow: boolean) => {
    const body = JSON.stringify(geminiBody({ ...settings, model }, request, thinksAnyhow))
    return {
      path: pathUnder(baseUrl, `/v1beta/models/${encodeURIComponent(model)}:streamGenerateContent?alt=sse`),
      // Not in the address, which proxies log.
      headers: { "x-goog-api-key": apiKey },
      body,
      answer: new Answer({ request, thinking: "never", read: chunkReader(request.tools, body + apiKey) })
    }
  }
  let current = attempt(alwaysThink.has(model))
  return {
    current: () => current,
    refused: (refusal) => {
      if (refusal.status !== 400 || alwaysThink.has(model) || !/thinking/i.test(refusal.text))
        return errorOf(refusal, current.body + apiKey)
      alwaysThink.add(model)
      current = attempt(true)
      return undefined
    }
  }
}

/** https://ai.google.dev/gemini-api/docs/troubleshooting, and the details of google.rpc's errors. */
const errorOf = (refusal: Refusal, sent: string): ModelError => {
  const reply = parse(refusal.text)
  // Some errors are lists of one.
  const error = at(Array.isArray(reply) ? reply[0] : reply, "error")
  const given = at(error, "details")
  const details: ReadonlyArray<unknown> = Array.isArray(given) ? given : []
  const code = details.map((detail) => textAt(detail, "reason")).find((reason) => reason !== undefined)
  const [, seconds] = /^(\d+(?:\.\d+)?)s$/.exec(details.map((detail) => textAt(detail, "retryDelay")).find((delay) => delay) ?? "") ?? []
  const retryAfterMillis = seconds === undefined ? refusal.retryAfterMillis : Number(seconds) * 1000
  const refused = refusedReply({ ...refusal, retryAfterMillis }, { error: { type: textAt(error, "status"), code } }, sent)
  const final = (reason: "auth" | "credit") => new ModelError({ reason, isRetryable: false, message: refused.message })
  if (code === "API_KEY_INVALID") return final("auth")
  // Where there is no free tier, accounts without a bill get this.
  return textAt(error, "status") === "FAILED_PRECONDITION" ? final("credit") : refused
}

const filters = ["SAFETY", "RECITATION", "PROHIBITED_CONTENT", "BLOCKLIST", "SPII", "LANGUAGE"]
const reasons: Readonly<Record<string, Why>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  ...Object.fromEntries(filters.map((one) => [one, "filtered"] as const))
}

const usageOf = (usage: unknown): ModelUsage | undefined =>
  isObject(usage)
    ? {
        promptTokens: numberAt(usage, "promptTokenCount") ?? 0,
        completionTokens: (numberAt(usage, "candidatesTokenCount") ?? 0) + (numberAt(usage, "thoughtsTokenCount") ?? 0),
        cachedTokens: numberAt(usage, "cachedContentTokenCount") ?? 0
      }
    : undefined

/** Reads the chunks of one answer, in their order. */
const chunkReader = (tools: ReadonlyArray<ModelTool>, sent: string) => {
  let calls = 0
  /** A call comes whole. Its signature is a member of the part. */
  const callIn = (part: unknown): ReadonlyArray<JsonObject> => {
    if (!isObject(part) || !isObject(part["functionCall"])) return []
    const { functionCall, ...members } = part
    const { args, id, name, ...others } = part["functionCall"]
    const tool = tools.find((one) => wireName(one.name) === name)
    return [{ ...members, index: calls++, id, function: { ...others, name: tool?.name ?? name, arguments: isObject(args) ? args : {} } }]
  }
  return (chunk: JsonObject): AnswerPiece => {
    if (isObject(chunk["error"]))
      return { error: errorOf({ status: numberAt(chunk, "error", "code") ?? 500, text: JSON.stringify(chunk) }, sent) }
    const candidates = chunk["candidates"]
    const candidate: unknown = Array.isArray(candidates) ? candidates[0] : undefined
    const content = at(candidate, "content", "parts")
    const parts: ReadonlyArray<unknown> = Array.isArray(content) ? content : []
    const isBlocked = textAt(chunk, "promptFeedback", "blockReason") !== undefined
    const finish = isBlocked ? "SAFETY" : (textAt(candidate, "finishReason") ?? "FINISH_REASON_UNSPECIFIED")
    const piece = {
      text: parts.map((part) => (at(part, "thought") === true ? "" : (textAt(part, "text") ?? ""))).join(""),
      calls: parts.flatMap(callIn),
      usage: usageOf(chunk["usageMetadata"]),
      why: reasons[finish],
      hasProgress: parts.length > 0
    }
    // Such as MALFORMED_FUNCTION_CALL: there is nothing to carry out.
    return piece.why !== undefined || finish === "FINISH_REASON_UNSPECIFIED" ? piece : { ...piece, error: broken(stoppedBy(finish)) }
  }
}

const stoppedBy = (finish: string): string => (/^[A-Z_]{1,40}$/.test(finish) ? `the model stopped: ${finish}` : "the model stopped")
