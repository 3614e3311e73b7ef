/** Removes transient editor state from a graph, such as what is selected, dragged, hovered over or marked as invalid. It is not stored. */
import { isObject, type JsonObject } from "#core/Json.ts"

const momentary: ReadonlySet<string> = new Set(["selected", "dragging", "invalid", "hovered_through_edge"])

const lasting = (part: JsonObject): JsonObject =>
  Object.keys(part).some((key) => momentary.has(key))
    ? Object.fromEntries(Object.entries(part).filter(([key]) => !momentary.has(key)))
    : part

const lastingPart = (part: unknown): unknown => {
  if (!isObject(part)) return part
  const kept = lasting(part)
  return isObject(kept["data"]) ? { ...kept, data: lasting(kept["data"]) } : kept
}

export const withoutEditorState = (definition: JsonObject): JsonObject => {
  const lists = (["nodes", "edges"] as const).flatMap((name) => {
    const parts: unknown = definition[name]
    return Array.isArray(parts) ? [[name, parts.map(lastingPart)] as const] : []
  })
  return { ...definition, ...Object.fromEntries(lists) }
}
