/** The body of a request for content. */
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelRequest, ModelTool } from "#core/model/LanguageModel.ts"
import { takesNothing } from "#adapters/voice/shared/Literal.ts"
import type { ModelSettings } from "#adapters/voice/shared/modelFields.ts"
import { type Turn, type TurnPart, turnsOf } from "#adapters/voice/shared/Turns.ts"

/** Names must begin with a letter or an underscore. */
export const wireName = (name: string): string => (/^[a-z_]/i.test(name) ? name : `_${name}`)

/** As little thought as the model allows, because the callee waits for it: https://ai.google.dev/gemini-api/docs/thinking */
const briefThought = (model: string): JsonObject => {
  if (/^gemini-2\.5-pro/.test(model)) return { thinkingConfig: { thinkingBudget: 128 } }
  if (/^gemini-2\.5/.test(model)) return { thinkingConfig: { thinkingBudget: 0 } }
  if (!isSigned(model)) return {}
  return { thinkingConfig: { thinkingLevel: model.includes("pro") ? "LOW" : "MINIMAL" } }
}

/** Since Gemini 3, models want the signature of each step back. */
const isSigned = (model: string): boolean => /^gemini-([3-9]|\d\d)/.test(model)
/** For calls whose own is not there, such as another model's: https://ai.google.dev/gemini-api/docs/thought-signatures */
const noSignature = "skip_thought_signature_validator"

/** `thinksAnyhow`: the service has refused the limit of thought. */
export const geminiBody = (settings: ModelSettings, request: ModelRequest, thinksAnyhow: boolean): JsonObject => {
  const { extraBody, maxTokens, model, temperature } = settings
  const { generationConfig, ...others } = extraBody
  return {
    ...others,
    ...(request.instructions.trim() === "" ? {} : { systemInstruction: { parts: [{ text: request.instructions }] } }),
    contents: turnsOf(request.messages).map((turn) => ({ role: turn.role, parts: partsOf(turn, isSigned(model)) })),
    ...toolsOf(request),
    generationConfig: {
      ...(temperature === undefined ? {} : { temperature }),
      ...(maxTokens === undefined ? {} : { maxOutputTokens: maxTokens }),
      ...(thinksAnyhow ? {} : briefThought(model)),
      ...(isObject(generationConfig) ? generationConfig : {})
    }
  }
}

/** Of several calls in one step, only the first is signed. */
const partsOf = ({ parts }: Turn, isSigned: boolean): ReadonlyArray<JsonObject> => {
  const hasSignature = parts.some((part) => part._tag === "Call" && part.call.members?.["thoughtSignature"] !== undefined)
  const first = parts.find(({ _tag }) => _tag === "Call")
  return parts.flatMap((part) => {
    const content = contentOf(part)
    if (content === undefined) return []
    return isSigned && !hasSignature && part === first ? [{ ...content, thoughtSignature: noSignature }] : [content]
  })
}

const contentOf = (part: TurnPart): JsonObject | undefined => {
  switch (part._tag) {
    case "Text":
      return { text: part.text }
    case "Members":
      return undefined
    case "Call": {
      const { arguments: args, id, members = {}, name } = part.call
      const { function: ofCall, ...ofPart } = members
      return { ...ofPart, functionCall: { ...(isObject(ofCall) ? ofCall : {}), id, name: wireName(name), args } }
    }
    case "Result":
      return { functionResponse: { id: part.call.id, name: wireName(part.call.name), response: part.result } }
  }
}

/** A schema without properties is refused. */
const declared = (tool: ModelTool): JsonObject => ({
  name: wireName(tool.name),
  description: tool.description,
  ...(takesNothing(tool) ? {} : { parametersJsonSchema: tool.parameters })
})

const toolsOf = ({ purpose, tools }: ModelRequest): JsonObject =>
  tools.length === 0
    ? {}
    : {
        tools: [{ functionDeclarations: tools.map(declared) }],
        ...(purpose === "extract"
          ? { toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: tools.map(({ name }) => wireName(name)) } } }
          : {})
      }
