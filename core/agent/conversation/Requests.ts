/** The requests to the model. The same state always gives the same request, so a request can be sent before its turn is certain. */
import type { ModelNode, ModelPurpose, ModelRequest } from "#core/model/LanguageModel.ts"
import { type ConversationState, nodeOf, type Scene } from "./ConversationState.ts"
import type { ConversationNode, Extraction } from "./ConversationGraph.ts"
import { type ConversationTool, toolsAt } from "./ConversationTool.ts"
import { extractionInstructions, extractionTool } from "./Extraction.ts"
import { factsOf, messagesOf } from "./History.ts"
import { rendered } from "./Rendering.ts"

const additions: { readonly [Purpose in ModelPurpose]: string } = {
  turn: "",
  extract: "",
  check_in:
    "The callee has been silent for a while. Ask in one short sentence, in the language of the conversation, whether they are still there.",
  farewell:
    "The call ends now. Say goodbye in one short sentence, in the language of the conversation. If the callee asked not to be called again, confirm that they will not be.",
  introduce: "A call screening service asks who calls and why. Answer in one or two short sentences. Then you will wait for the person."
}

export const toolsFor = (scene: Scene, state: ConversationState): ReadonlyArray<ConversationTool> =>
  toolsAt(nodeOf(scene, state), scene.plan.tools, scene.plan.settings)

interface Stand {
  /** Rendered. */
  readonly prompt: string
  readonly misunderstood: number
}

export const modelNodeOf = ({ misunderstood, prompt }: Stand, node: ConversationNode): ModelNode => ({
  id: node.id,
  type: node.type,
  name: node.name,
  prompt,
  edges: node.edges.map(({ condition, id, label, leadsTo, phrases, tool }) => ({ id, tool, label, condition, phrases, leadsTo })),
  variables: node.extraction?.variables ?? [],
  misunderstood
})

export const requestFor = (scene: Scene, state: ConversationState, purpose: ModelPurpose): ModelRequest => ({
  instructions: [state.instructions, additions[purpose]].filter((part) => part !== "").join("\n\n"),
  messages: messagesOf(state.history),
  tools: purpose === "turn" ? toolsFor(scene, state).map(({ offered }) => offered) : [],
  purpose,
  node: modelNodeOf(state, nodeOf(scene, state))
})

export const extractionRequestFor = (scene: Scene, state: ConversationState, extraction: Extraction): ModelRequest => ({
  instructions: extractionInstructions(extraction, rendered(scene, state, extraction.prompt)),
  messages: factsOf(state.history),
  tools: [extractionTool(extraction)],
  purpose: "extract",
  node: modelNodeOf(state, nodeOf(scene, state))
})
