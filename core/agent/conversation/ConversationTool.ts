/** What the model can do in a node besides talking: follow an edge, use a tool of the organization, press keys, end the call. */
import type { JsonObject } from "#core/Json.ts"
import type { ModelTool } from "#core/model/LanguageModel.ts"
import { isReady, type Tool } from "#core/tool/Tool.ts"
import { functionName } from "#core/agent/ToolNames.ts"
import type { ConversationEdge, ConversationNode } from "./ConversationGraph.ts"
import { parametersOf } from "./HttpTool.ts"

export type ConversationTool = { readonly offered: ModelTool } & (
  | { readonly _tag: "Edge"; readonly edge: ConversationEdge }
  | { readonly _tag: "Http"; readonly config: JsonObject }
  | { readonly _tag: "EndCall"; readonly config: JsonObject }
  | { readonly _tag: "Transfer"; readonly config: JsonObject }
  | { readonly _tag: "Calculator" }
  | { readonly _tag: "SendDigits" }
  | { readonly _tag: "OptOut" }
)

/** The tools that move the conversation on: they wait until the text said with them has been heard, and one completion runs only one of them. */
export type ControlTool = Extract<ConversationTool, { readonly _tag: "Edge" | "EndCall" | "Transfer" | "OptOut" }>
export const isControl = (tool: ConversationTool): tool is ControlTool =>
  tool._tag === "Edge" || tool._tag === "EndCall" || tool._tag === "Transfer" || tool._tag === "OptOut"

/** Models reject longer names. */
const longestName = 64

const nothing: JsonObject = { type: "object", properties: {}, required: [] }
const text = (description: string): JsonObject => ({ type: "string", description })
const oneText = (name: string, description: string): JsonObject => ({
  type: "object",
  properties: { [name]: text(description) },
  required: [name]
})

const calculator: ConversationTool = {
  _tag: "Calculator",
  offered: {
    name: "safe_calculator",
    description: "Computes an arithmetic expression of numbers, + - * / % ** and parentheses.",
    parameters: oneText("expression", "For example (12.5 + 3) * 4.")
  }
}
const sendDigits: ConversationTool = {
  _tag: "SendDigits",
  offered: {
    name: "send_dtmf",
    description: "Presses keys of the phone, to get through a menu or to enter a number that a machine asks for.",
    parameters: oneText("digits", "The keys 0-9, * and #, in order; w waits for half a second.")
  }
}
const optOut: ConversationTool = {
  _tag: "OptOut",
  offered: {
    name: "opt_out",
    description: "The callee asks never to be called again. Do not use it if they only want to be called at another time.",
    parameters: nothing
  }
}

/** What conversations need of a stored tool. */
export type UsableTool = Pick<Tool, "definition" | "description" | "name" | "status" | "toolUuid">

const toolOf = ({ definition: { config = {}, type }, description, name }: UsableTool): ConversationTool | undefined => {
  const offered = { name: functionName(name).slice(0, longestName), description: description ?? name }
  switch (type) {
    case "http_api":
      return { _tag: "Http", config, offered: { ...offered, parameters: parametersOf(config) } }
    case "end_call":
      return { _tag: "EndCall", config, offered: { ...offered, parameters: config["endCallReason"] === true ? reasonOf(config) : nothing } }
    case "transfer_call":
      return { _tag: "Transfer", config, offered: { ...offered, parameters: nothing } }
    case "calculator":
      return calculator
    case "mcp":
      return undefined
  }
}

const reasonOf = ({ endCallReasonDescription: why }: JsonObject): JsonObject =>
  oneText("reason", typeof why === "string" && why !== "" ? why : "Why the call ends, in a few words.")

/** The tools of an organization by lower-case UUID, as far as conversations can use them. */
export const compileTools = (tools: ReadonlyArray<UsableTool>): ReadonlyMap<string, ConversationTool> =>
  new Map(
    tools.flatMap((tool) => {
      const compiled = tool.status !== "archived" && isReady(tool.definition) ? toolOf(tool) : undefined
      return compiled === undefined ? [] : [[tool.toolUuid.toLowerCase(), compiled] as const]
    })
  )

const edgeTool = (edge: ConversationEdge): ConversationTool => ({
  _tag: "Edge",
  edge,
  offered: { name: edge.tool, description: edge.condition, parameters: nothing }
})

/** All tools that the node offers; of two with the same name the first, so that an edge is never hidden. */
export const toolsAt = (
  node: ConversationNode,
  tools: ReadonlyMap<string, ConversationTool>,
  { sendsDigits }: { readonly sendsDigits: boolean }
): ReadonlyArray<ConversationTool> => {
  if (node.type === "endCall") return []
  const all = [
    ...node.edges.map(edgeTool),
    ...node.toolUuids.flatMap((uuid) => tools.get(uuid) ?? []),
    ...(sendsDigits ? [sendDigits] : []),
    optOut
  ]
  const names = new Set<string>()
  return all.filter(({ offered: { name } }) => {
    const isNew = name !== "" && !names.has(name)
    names.add(name)
    return isNew
  })
}
