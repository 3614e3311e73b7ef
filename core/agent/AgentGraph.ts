/**
 * The graph in an agent's definition: nodes joined by edges. Here is what a definition must be to be stored at all; one that is not
 * finished yet may be stored. Whatever else a client puts in is kept and not looked at.
 */
import type { GraphProblem, JsonObject } from "./Agent.ts"
import { requiredVariables } from "./Template.ts"

/** The node types, under their names for people, and how many of each an agent may have. */
const nodeTypes: Readonly<Record<string, { readonly displayName: string; readonly atMost: number }>> = {
  startCall: { displayName: "Start Call", atMost: 1 },
  agentNode: { displayName: "Agent Node", atMost: Number.POSITIVE_INFINITY },
  endCall: { displayName: "End Call", atMost: Number.POSITIVE_INFINITY },
  globalNode: { displayName: "Global Node", atMost: 1 },
  trigger: { displayName: "API Trigger", atMost: 1 },
  webhook: { displayName: "Webhook", atMost: Number.POSITIVE_INFINITY },
  qa: { displayName: "QA Analysis", atMost: Number.POSITIVE_INFINITY },
  tuner: { displayName: "Tuner", atMost: 1 },
  noveum: { displayName: "Noveum", atMost: 1 },
  paygent: { displayName: "Paygent", atMost: 1 }
}
const prompted: ReadonlySet<string> = new Set(["startCall", "agentNode", "endCall", "globalNode"])

const defaultMaxCallSeconds = 300
const longestCallSeconds = 1200

/** Everything that is wrong; empty when the definition can be stored. `{}` can. */
export const check = (definition: JsonObject): ReadonlyArray<GraphProblem> => {
  if (Object.keys(definition).length === 0) return []
  const { edges, nodes } = definition
  const lists = [listProblem("nodes", nodes), listProblem("edges", edges)].flat()
  if (lists.length > 0 || !Array.isArray(nodes) || !Array.isArray(edges)) return lists
  const shape = [...nodes.flatMap(nodeShape), ...edges.flatMap(edgeShape)]
  if (shape.length > 0) return shape
  const checkedNodes = nodes.filter(isObject)
  return [...repeatedIds(checkedNodes), ...tooMany(checkedNodes), ...looseEnds(edges.filter(isObject), checkedNodes)]
}

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)
const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const idOf = (part: unknown): string | null => (isObject(part) ? (textOf(part["id"]) ?? null) : null)

const listProblem = (name: string, value: unknown): ReadonlyArray<GraphProblem> =>
  Array.isArray(value)
    ? []
    : [{ kind: "workflow", id: null, path: [name], message: value === undefined ? "Field required" : "Input should be a valid list" }]

const field = (part: JsonObject, name: string, of: { readonly kind: "node" | "edge"; readonly at: ReadonlyArray<string | number> }) =>
  textOf(part[name]) !== undefined
    ? []
    : [
        {
          kind: of.kind,
          id: idOf(part),
          path: [...of.at, name],
          message: part[name] === undefined ? "Field required" : "Input should be a valid string"
        }
      ]

const dataShape = (part: JsonObject, of: { readonly kind: "node" | "edge"; readonly at: ReadonlyArray<string | number> }) =>
  part["data"] === undefined || isObject(part["data"])
    ? []
    : [{ kind: of.kind, id: idOf(part), path: [...of.at, "data"], message: "Input should be a valid dictionary" }]

const nodeShape = (node: unknown, index: number): ReadonlyArray<GraphProblem> => {
  const of = { kind: "node", at: ["nodes", index] } as const
  if (!isObject(node)) return [{ kind: of.kind, id: null, path: of.at, message: "Input should be a valid dictionary" }]
  const type = textOf(node["type"])
  const unknownType =
    type === undefined || Object.hasOwn(nodeTypes, type)
      ? []
      : [{ kind: of.kind, id: idOf(node), path: [...of.at, "type"], message: `Value error, unknown node type: '${type}'` }]
  return [...field(node, "id", of), ...field(node, "type", of), ...unknownType, ...dataShape(node, of)]
}

const edgeShape = (edge: unknown, index: number): ReadonlyArray<GraphProblem> => {
  const of = { kind: "edge", at: ["edges", index] } as const
  if (!isObject(edge)) return [{ kind: of.kind, id: null, path: of.at, message: "Input should be a valid dictionary" }]
  return [...field(edge, "id", of), ...field(edge, "source", of), ...field(edge, "target", of), ...dataShape(edge, of)]
}

const repeatedIds = (nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const seen = new Set<unknown>()
  return nodes.flatMap((node, index) => {
    const isRepeated = seen.has(node["id"])
    seen.add(node["id"])
    return isRepeated
      ? [{ kind: "node" as const, id: idOf(node), path: ["nodes", index, "id"], message: "Value error, node ids must be unique" }]
      : []
  })
}

const tooMany = (nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const counts = new Map<string, number>()
  return nodes.flatMap((node, index) => {
    const type = textOf(node["type"]) ?? ""
    const kind = nodeTypes[type]
    const count = (counts.get(type) ?? 0) + 1
    counts.set(type, count)
    return kind === undefined || count <= kind.atMost
      ? []
      : [
          {
            kind: "node" as const,
            id: idOf(node),
            path: ["nodes", index],
            message: `Value error, Workflow can have at most one ${kind.displayName}`
          }
        ]
  })
}

const looseEnds = (edges: ReadonlyArray<JsonObject>, nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const ids = new Set(nodes.map((node) => node["id"]))
  return edges.flatMap((edge, index) =>
    (["source", "target"] as const)
      .filter((end) => !ids.has(edge[end]))
      .map((end) => ({
        kind: "edge" as const,
        id: idOf(edge),
        path: ["edges", index, end],
        message: "Value error, edge joins a node that does not exist"
      }))
  )
}

const partsOf = (definition: JsonObject, name: "nodes" | "edges"): ReadonlyArray<{ readonly type: string; readonly data: JsonObject }> => {
  const parts = definition[name]
  return Array.isArray(parts)
    ? parts.filter(isObject).map((part) => ({ type: textOf(part["type"]) ?? "", data: isObject(part["data"]) ? part["data"] : {} }))
    : []
}

/** The template of what the agent says first; undefined when it says nothing, or plays a recording. */
export const greetingOf = (definition: JsonObject): string | undefined => {
  const start = partsOf(definition, "nodes").find(({ type }) => type === "startCall")
  if (start === undefined || start.data["greeting_type"] === "audio") return undefined
  const greeting = textOf(start.data["greeting"]) ?? ""
  return greeting.trim() === "" ? undefined : greeting
}

const speechOf = (data: JsonObject): string => (data["transition_speech_type"] === "audio" ? "" : (textOf(data["transition_speech"]) ?? ""))

/** The names that each contact must bring; undefined when the definition is not one that can be searched for them. */
export const requiredVariablesOf = (definition: JsonObject): ReadonlyArray<string> | undefined => {
  if (check(definition).length > 0) return undefined
  const prompts = partsOf(definition, "nodes")
    .filter(({ type }) => prompted.has(type))
    .map(({ data }) => textOf(data["prompt"]) ?? "")
  const speeches = partsOf(definition, "edges").map(({ data }) => speechOf(data))
  return [...new Set([...prompts, greetingOf(definition) ?? "", ...speeches].flatMap(requiredVariables))].sort()
}

/** How long a call of the agent may last. */
export const maxCallDurationSeconds = (configurations: JsonObject): number => {
  const wanted = configurations["max_call_duration"]
  if (typeof wanted !== "number" || !Number.isFinite(wanted)) return defaultMaxCallSeconds
  return Math.min(longestCallSeconds, Math.max(1, Math.floor(wanted)))
}
