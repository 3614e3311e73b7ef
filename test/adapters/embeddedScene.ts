/** Builds nodes, and what callees say in them. */
import type { JsonObject } from "#core/Json.ts"
import type { ExtractedVariable, ModelMessage, ModelNode, ModelRequest } from "#core/model/LanguageModel.ts"
import { type AuthoredNode, type AuthoredRequest, embeddedDialogue } from "#adapters/voice/embedded/EmbeddedDialogue.ts"
import { replyTo } from "#adapters/voice/embedded/Reply.ts"

export const edge = (
  label: string,
  condition = label,
  leadsTo: "agentNode" | "endCall" = "agentNode",
  phrases: ReadonlyArray<string> = []
): ModelNode["edges"][number] => ({
  id: label,
  tool: label.toLowerCase().replaceAll(/[^a-z0-9]/g, "_"),
  label,
  condition,
  phrases,
  leadsTo
})
/** `embedded`: what the author tells the model. */
export const nodeOf = ({ embedded = {}, ...node }: Partial<ModelNode> & { readonly embedded?: JsonObject }): AuthoredNode => ({
  id: "n",
  type: "agentNode",
  name: "Question",
  prompt: 'Say: "Would you like to come on Friday?"',
  edges: [],
  variables: [],
  misunderstood: 0,
  ...node,
  dialogue: embeddedDialogue(embedded)
})
export const variable = (name: string, type: ExtractedVariable["type"], prompt = ""): ExtractedVariable => ({ name, type, prompt })

export const agent = (text: string): ModelMessage => ({ _tag: "Assistant", text, calls: [], wasInterrupted: false })
export const callee = (text: string): ModelMessage => ({ _tag: "User", text })
export const keys = (text: string): ModelMessage => ({ _tag: "User", text, isKeyed: true })

const noParameters = { type: "object", properties: {}, required: [] }
const optOutTool = { name: "opt_out", description: "The callee asks never to be called again.", parameters: noParameters }
export const requestOf = (
  node: AuthoredNode,
  messages: ReadonlyArray<ModelMessage>,
  change: Partial<Omit<ModelRequest, "node">> = {}
): AuthoredRequest => ({
  instructions: "",
  messages,
  tools: [...node.edges.map(({ condition, tool }) => ({ name: tool, description: condition, parameters: noParameters })), optOutTool],
  purpose: "turn",
  node,
  ...change
})

/** The tool that is called, or otherwise what is said. */
export const outcome = (node: AuthoredNode, ...messages: ReadonlyArray<ModelMessage>): string => {
  const { call, text } = replyTo(requestOf(node, messages))
  return call?.name ?? text
}
export const values = (variables: ReadonlyArray<ExtractedVariable>, ...messages: ReadonlyArray<ModelMessage>) =>
  replyTo(requestOf(nodeOf({ variables }), messages, { purpose: "extract" })).call?.arguments
