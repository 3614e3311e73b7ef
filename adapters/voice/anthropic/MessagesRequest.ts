/** The body of a request for a message. */
import type { JsonObject } from "#core/Json.ts"
import type { ModelRequest, ModelTool } from "#core/model/LanguageModel.ts"
import type { ModelSettings } from "#adapters/voice/shared/modelFields.ts"
import { type Turn, type TurnPart, turnsOf } from "#adapters/voice/shared/Turns.ts"

/** The longest answer if none is set. The protocol has no default. */
export const MOST_TOKENS = 1024

/** What comes up to here is kept for five minutes: https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
const cached = { cache_control: { type: "ephemeral" } }
/** The member of `Finished` with the blocks of a thought, which the service wants back with the calls that follow from it. */
export const thoughtName = "thinking"

export const messagesBody = (settings: ModelSettings, request: ModelRequest): JsonObject => {
  const { instructions, messages, purpose } = request
  const isExtraction = purpose === "extract"
  const { thinking, ...extraBody } = settings.extraBody
  // The other purposes have instructions or tools of their own, which no later request repeats.
  const mark = purpose === "turn" ? cached : {}
  const turns = turnsOf(messages)
  return {
    ...(settings.temperature === undefined ? {} : { temperature: settings.temperature }),
    max_tokens: settings.maxTokens ?? MOST_TOKENS,
    ...extraBody,
    // No tool can be forced on a model that thinks.
    ...(thinking === undefined || isExtraction ? {} : { thinking }),
    model: settings.model,
    stream: true,
    ...(instructions.trim() === "" ? {} : { system: [{ type: "text", text: instructions, ...mark }] }),
    ...toolsOf(request, turns, mark),
    messages: turns.map(({ parts, role }, index) => ({
      role: role === "user" ? "user" : "assistant",
      content: markedLast(
        parts.flatMap((part) => blocksOf(part, !isExtraction)),
        // The last turn is what the callee has said, of which more may come.
        index === turns.length - 2 ? mark : {}
      )
    }))
  }
}

const markedLast = (blocks: ReadonlyArray<JsonObject>, mark: JsonObject): ReadonlyArray<JsonObject> =>
  blocks.map((block, index) => (index === blocks.length - 1 ? { ...block, ...mark } : block))

const blocksOf = (part: TurnPart, hasThoughts: boolean): ReadonlyArray<JsonObject> => {
  switch (part._tag) {
    case "Text":
      return [{ type: "text", text: part.text }]
    case "Members": {
      const thoughts = part.members[thoughtName]
      return hasThoughts && Array.isArray(thoughts) ? thoughts : []
    }
    case "Call":
      return [{ ...part.call.members, type: "tool_use", id: part.call.id, name: part.call.name, input: part.call.arguments }]
    case "Result":
      return [{ type: "tool_result", tool_use_id: part.call.id, content: JSON.stringify(part.result) }]
  }
}

const toolOf = ({ description, name, parameters }: ModelTool): JsonObject => ({
  name,
  ...(description === "" ? {} : { description }),
  input_schema: parameters
})

const toolsOf = ({ purpose, tools }: ModelRequest, turns: ReadonlyArray<Turn>, mark: JsonObject): JsonObject => {
  const [only] = tools
  if (only === undefined) return toolsOfHistory(turns)
  return {
    tools: markedLast(tools.map(toolOf), mark),
    ...(purpose === "extract" ? { tool_choice: { type: "tool", name: only.name } } : {})
  }
}

/** A conversation with calls needs tools, even if none is on offer any more. */
const toolsOfHistory = (turns: ReadonlyArray<Turn>): JsonObject => {
  const names = new Set(turns.flatMap(({ parts }) => parts.flatMap((part) => (part._tag === "Call" ? [part.call.name] : []))))
  if (names.size === 0) return {}
  return { tools: [...names].map((name) => ({ name, input_schema: { type: "object", properties: {} } })), tool_choice: { type: "none" } }
}
