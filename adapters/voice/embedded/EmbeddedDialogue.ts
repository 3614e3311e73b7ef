/**
 * What an agent's author tells the built-in model beyond prompts: `embedded` in the agent's configurations. It may have been stored before validation
 * existed, so malformed parts are ignored.
 */
import { type JsonObject, partIn, textIn } from "#core/Json.ts"
import type { ModelNode, ModelRequest } from "#core/model/LanguageModel.ts"

interface EmbeddedEdge {
  /** The key for the edge. Undefined: the edge's position among the edges. */
  readonly dtmf: string | undefined
  /** Whether the callee must confirm the choice. Undefined: only if it looks irreversible. */
  readonly confirm: boolean | undefined
}

interface EmbeddedDialogue {
  readonly sayAt: (nodeId: string) => string | undefined
  readonly edge: (edgeId: string) => EmbeddedEdge
  /** The edge to take when an answer is not understood for the third time. */
  readonly fallbackEdge: string | undefined
  /** What a call screening service is told. */
  readonly introduction: string | undefined
}

/** A node, with what the author tells this model about it. */
export interface AuthoredNode extends ModelNode {
  readonly dialogue: EmbeddedDialogue
}
export interface AuthoredRequest extends ModelRequest {
  readonly node: AuthoredNode
}

export const embeddedDialogue = (embedded: JsonObject): EmbeddedDialogue => ({
  sayAt: (nodeId) => textIn(partIn(embedded["nodes"], nodeId), "say"),
  edge: (edgeId) => {
    const part = partIn(embedded["edges"], edgeId)
    const confirm = part?.["confirm"]
    return { dtmf: textIn(part, "dtmf"), confirm: typeof confirm === "boolean" ? confirm : undefined }
  },
  fallbackEdge: textIn(embedded, "fallback_edge"),
  introduction: textIn(embedded, "introduction")
})
