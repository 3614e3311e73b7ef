/**
 * `embedded` in an agent's configurations: what its author tells the embedded model beyond prompts. It may have been stored before validation
 * existed, so malformed parts are ignored.
 */
import { isObject, type JsonObject } from "#core/Json.ts"

interface EmbeddedEdge {
  /** Answers that lead along the edge. If empty, they are derived from its label and condition. */
  readonly phrases: ReadonlyArray<string>
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

const textIn = (part: unknown, name: string): string | undefined => {
  const value = isObject(part) && Object.hasOwn(part, name) ? part[name] : undefined
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined
}
const partOf = (embedded: JsonObject, list: string, id: string): unknown => {
  const parts = embedded[list]
  return isObject(parts) && Object.hasOwn(parts, id) ? parts[id] : undefined
}

export const embeddedDialogue = (embedded: JsonObject): EmbeddedDialogue => ({
  sayAt: (nodeId) => textIn(partOf(embedded, "nodes", nodeId), "say"),
  edge: (edgeId) => {
    const part = partOf(embedded, "edges", edgeId)
    const { confirm, phrases } = isObject(part) ? part : {}
    return {
      phrases: Array.isArray(phrases) ? phrases.filter((one) => typeof one === "string") : [],
      dtmf: textIn(part, "dtmf"),
      confirm: typeof confirm === "boolean" ? confirm : undefined
    }
  },
  fallbackEdge: textIn(embedded, "fallback_edge"),
  introduction: textIn(embedded, "introduction")
})
