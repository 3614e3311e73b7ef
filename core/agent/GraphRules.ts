/** The rules that a finished definition meets: the checks of AgentGraph, the data of each node and edge, and how nodes are joined. */
import type { GraphProblem } from "./Agent.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { check } from "./AgentGraph.ts"
import { type Fault, fault, fieldRequired, firstOf, gathered } from "#core/Problem.ts"
import { dataProblems } from "./NodeData.ts"
import type { Limits, NodeType } from "./NodeType.ts"
import { nodeTypeOf, nodeTypes } from "./NodeTypes.ts"

interface PlacedNode {
  readonly node: JsonObject
  readonly type: NodeType
  readonly index: number
}

/** Returns up to a hundred problems; none when the definition can be published. */
export const problemsOf = (definition: JsonObject): ReadonlyArray<GraphProblem> => {
  const stored = check(definition)
  if (stored.length > 0) return stored
  const nodes = listOf(definition["nodes"]).flatMap((node, index): ReadonlyArray<PlacedNode> => {
    const type = nodeTypeOf(String(node["type"]))
    return type === undefined ? [] : [{ node, type, index }]
  })
  const edges = listOf(definition["edges"])
  return firstOf(
    () => gathered(nodes, ({ index, node, type }) => nodeProblems(node, type, index)),
    () => gathered(edges, edgeProblems),
    () => tooFew(nodes),
    () => degreeProblems(nodes, edges)
  )
}

/** The problems in one line, for callers who cannot call because of them: the first one, and how many more there are. */
export const flawOf = (definition: JsonObject): string | undefined => {
  const problems = problemsOf(definition)
  const [first] = problems
  if (first === undefined) return undefined
  const where = first.id === null ? "" : ` (${first.kind} ${first.id})`
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : ""
  return `${first.message.replace(/^Value error, /, "")}${where}${more}`
}

const listOf = (parts: unknown): ReadonlyArray<JsonObject> => (Array.isArray(parts) ? parts.filter(isObject) : [])
const idOf = (part: JsonObject): string => String(part["id"])
const dataOf = (part: JsonObject): JsonObject => (isObject(part["data"]) ? part["data"] : {})

const nodeProblems = (node: JsonObject, type: NodeType, index: number): ReadonlyArray<GraphProblem> => {
  const at = (path: ReadonlyArray<string | number>, found: Fault): GraphProblem => ({
    ...found,
    kind: "node",
    id: idOf(node),
    path: ["nodes", index, ...path]
  })
  const { position } = node
  const places = ["x", "y"].flatMap((axis) => {
    if (!isObject(position)) return []
    if (position[axis] === undefined) return [at(["position", axis], fieldRequired)]
    return typeof position[axis] === "number" ? [] : [at(["position", axis], fault("Input should be a valid number"))]
  })
  return [
    ...(isObject(position)
      ? places
      : [at(["position"], position === undefined ? fieldRequired : fault("Input should be a valid dictionary"))]),
    ...dataProblems(type, dataOf(node)).map((found) => at(found.path.length === 0 ? [] : ["data", ...found.path], found))
  ]
}

const edgeProblems = (edge: JsonObject, index: number): ReadonlyArray<GraphProblem> =>
  ["label", "condition"].flatMap((name) => {
    const found = textFault(dataOf(edge)[name])
    return found === undefined ? [] : [{ ...found, kind: "edge" as const, id: idOf(edge), path: ["edges", index, "data", name] }]
  })

const textFault = (text: unknown): Fault | undefined => {
  if (text === undefined) return fieldRequired
  if (typeof text !== "string") return fault("Input should be a valid string")
  return text === "" ? fault("String should have at least 1 character") : undefined
}

const tooFew = (nodes: ReadonlyArray<PlacedNode>): ReadonlyArray<GraphProblem> =>
  nodeTypes
    .filter(({ limits, name }) => nodes.filter(({ type }) => type.name === name).length < (limits.minInstances ?? 0))
    .map(({ displayName }) => ({
      kind: "workflow",
      id: null,
      path: ["nodes"],
      message: `Value error, Workflow must have at least one ${displayName}`
    }))

/** Several edges between the same two nodes in the same direction count as one. */
const neighbours = (edges: ReadonlyArray<JsonObject>, from: "source" | "target", to: "source" | "target") => {
  const found = new Map<unknown, Set<unknown>>()
  for (const edge of edges) found.set(edge[from], (found.get(edge[from]) ?? new Set()).add(edge[to]))
  return (id: unknown): number => found.get(id)?.size ?? 0
}

const degreeProblems = (nodes: ReadonlyArray<PlacedNode>, edges: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const incoming = neighbours(edges, "target", "source")
  const outgoing = neighbours(edges, "source", "target")
  return gathered(nodes, ({ index, node, type: { displayName, limits } }) =>
    degreeMessages(displayName, limits, incoming(node["id"]), outgoing(node["id"])).map((message) => ({
      kind: "node" as const,
      id: idOf(node),
      path: ["nodes", index],
      message: `Value error, ${message}`
    }))
  )
}

const degreeMessages = (name: string, limits: Limits, incoming: number, outgoing: number): ReadonlyArray<string> => [
  ...within(name, "incoming", incoming, limits.minIncoming, limits.maxIncoming),
  ...within(name, "outgoing", outgoing, limits.minOutgoing, limits.maxOutgoing)
]

const within = (name: string, side: "incoming" | "outgoing", count: number, min = 0, max = Number.POSITIVE_INFINITY) => {
  if (count < min) return [`${name} must have at least ${min} ${side} edge(s)`]
  if (count <= max) return []
  return [max === 0 ? `${name} cannot have ${side} edges` : `${name} can have at most ${max} ${side} edge(s)`]
}
