/** Checks the names under which the language model knows a node's tools: they must differ from each other, and from those of its edges. */
import type { GraphProblem } from "./Agent.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { toolNameOf as edgeToolName } from "./AgentGraph.ts"
import { gathered } from "#core/Problem.ts"
import { isCanonicalUuid } from "#core/Uuid.ts"

export interface NamedTool {
  readonly uuid: string
  readonly name: string
}

const partsOf = (parts: unknown): ReadonlyArray<JsonObject> => (Array.isArray(parts) ? parts.filter(isObject) : [])
const dataOf = (part: JsonObject): JsonObject => (isObject(part["data"]) ? part["data"] : {})
const labelOf = (edge: JsonObject): string => {
  const { label } = dataOf(edge)
  return typeof label === "string" ? label : ""
}
const uuidsOf = (node: JsonObject): ReadonlyArray<string> => {
  const uuids = dataOf(node)["tool_uuids"]
  return Array.isArray(uuids) ? uuids.filter((uuid) => typeof uuid === "string").map((uuid) => uuid.toLowerCase()) : []
}

/** The tools of all nodes, without duplicates. */
export const toolUuidsIn = (definition: JsonObject): ReadonlyArray<string> => [
  ...new Set(partsOf(definition["nodes"]).flatMap(uuidsOf).filter(isCanonicalUuid))
]

/** The name of an organization's tool for the language model. Unlike an edge's name, it merges runs of `_` and has none at either end. */
export const functionName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, "_")
    .replaceAll(/_+/g, "_")
    .replaceAll(/^_|_$/g, "")

/** `tools` are those of the organization that the language model calls under their own name. */
export const toolProblems = (definition: JsonObject, tools: ReadonlyArray<NamedTool>): ReadonlyArray<GraphProblem> => {
  const nameOf = new Map(tools.map(({ name, uuid }) => [uuid, name]))
  const edgesFrom = Map.groupBy(partsOf(definition["edges"]), ({ source }) => source)
  return gathered(partsOf(definition["nodes"]), (node, index) => {
    const attached = [...new Set(uuidsOf(node))].flatMap((uuid) => nameOf.get(uuid) ?? [])
    if (attached.length === 0) return []
    const taken = new Set((edgesFrom.get(node["id"]) ?? []).map((edge) => edgeToolName(labelOf(edge))))
    return [...Map.groupBy(attached, functionName)]
      .flatMap(([tool, names]) => [
        ...(names.length > 1
          ? [`Custom tools ${quoted(names)} generate duplicate LLM tool name "${tool}" on this node. Rename one of the tools.`]
          : []),
        ...(taken.has(tool)
          ? [
              `Transition tool name "${tool}" conflicts with custom tool ${quoted(names.slice(0, 1))} attached to this node. ` +
                "Rename the tool or use another edge label."
            ]
          : [])
      ])
      .map((text) => ({
        kind: "node" as const,
        id: typeof node["id"] === "string" ? node["id"] : null,
        path: ["nodes", index, "data", "tool_uuids"],
        message: `Value error, ${text}`
      }))
  })
}

const quoted = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(", ")
