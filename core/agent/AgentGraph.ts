/**
 * The graph in an agent's definition: nodes joined by edges. These are the rules that a definition must meet to be stored at all. An unfinished
 * one may be stored; GraphRules says what it lacks. Anything else in it is stored unchecked.
 */
import type { GraphProblem } from "./Agent.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { type Fault, fault, fieldRequired, firstOf, gathered } from "#core/Problem.ts"
import { nodeTypeOf } from "./NodeTypes.ts"
import { requiredVariables, variablesIn } from "./Template.ts"
import { triggerProblems } from "./TriggerPath.ts"
import { longestCallSeconds } from "./AgentConfigurations.ts"

const defaultMaxCallSeconds = 300

/** Far more than any real graph has. Each node is visited a dozen times whenever a definition is stored. */
const mostNodes = 500
const mostEdges = 1000

/** Returns up to a hundred problems; none when the definition can be stored. `{}` can be. */
export const check = (definition: JsonObject): ReadonlyArray<GraphProblem> => {
  if (Object.keys(definition).length === 0) return []
  const { edges, nodes } = definition
  const lists = [listProblem("nodes", nodes, mostNodes), listProblem("edges", edges, mostEdges)].flat()
  if (lists.length > 0 || !Array.isArray(nodes) || !Array.isArray(edges)) return lists
  const shape = firstOf(
    () => gathered(nodes, nodeShape),
    () => gathered(edges, edgeShape)
  )
  if (shape.length > 0) return shape
  const checkedNodes = nodes.filter(isObject)
  const checkedEdges = edges.filter(isObject)
  return firstOf(
    () => repeatedIds(checkedNodes),
    () => triggerProblems(checkedNodes),
    () => tooMany(checkedNodes),
    () => looseEnds(checkedEdges, checkedNodes),
    () => repeatedTools(checkedEdges)
  )
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const idOf = (part: unknown): string | null => (isObject(part) ? (textOf(part["id"]) ?? null) : null)

/** A problem at this place of a definition. */
export const problemAt = (definition: JsonObject, path: ReadonlyArray<string | number>, message: string): GraphProblem => {
  const [list, index] = path
  const parts = list === "nodes" || list === "edges" ? definition[list] : undefined
  const part: unknown = Array.isArray(parts) && typeof index === "number" ? parts[index] : undefined
  return { kind: part === undefined ? "workflow" : list === "nodes" ? "node" : "edge", id: idOf(part), path, message }
}

const listProblem = (name: string, value: unknown, most: number): ReadonlyArray<GraphProblem> => {
  const wrong = (found: Fault): ReadonlyArray<GraphProblem> => [{ ...found, kind: "workflow", id: null, path: [name] }]
  if (!Array.isArray(value)) return wrong(value === undefined ? fieldRequired : fault("Input should be a valid list"))
  return value.length > most ? wrong(fault(`List should have at most ${most} items after validation, not ${value.length}`)) : []
}

const field = (part: JsonObject, name: string, of: { readonly kind: "node" | "edge"; readonly at: ReadonlyArray<string | number> }) =>
  textOf(part[name]) !== undefined
    ? []
    : [
        {
          kind: of.kind,
          id: idOf(part),
          path: [...of.at, name],
          ...(part[name] === undefined ? fieldRequired : fault("Input should be a valid string"))
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
    type === undefined || nodeTypeOf(type) !== undefined
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
  return gathered(nodes, (node, index) => {
    const isRepeated = seen.has(node["id"])
    seen.add(node["id"])
    return isRepeated
      ? [{ kind: "node" as const, id: idOf(node), path: ["nodes", index, "id"], message: "Value error, node ids must be unique" }]
      : []
  })
}

const tooMany = (nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const counts = new Map<string, number>()
  return gathered(nodes, (node, index) => {
    const type = nodeTypeOf(textOf(node["type"]) ?? "")
    if (type === undefined) return []
    const count = (counts.get(type.name) ?? 0) + 1
    counts.set(type.name, count)
    return count <= (type.limits.maxInstances ?? Number.POSITIVE_INFINITY)
      ? []
      : [
          {
            kind: "node" as const,
            id: idOf(node),
            path: ["nodes", index],
            message: `Value error, Workflow can have at most one ${type.displayName}`
          }
        ]
  })
}

/** Language models accept no longer names. */
const longestToolName = 64

/** The name of the tool that the language model calls to follow the edge. */
export const toolNameOf = (label: string): string =>
  label
    .slice(0, longestToolName)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "_")

const repeatedTools = (edges: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const seen = new Set<string>()
  return gathered(edges, (edge, index) => {
    const label = isObject(edge["data"]) ? textOf(edge["data"]["label"]) : undefined
    if (label === undefined || label === "") return []
    const tool = toolNameOf(label)
    const key = JSON.stringify([edge["source"], tool])
    const isRepeated = seen.has(key)
    seen.add(key)
    return isRepeated
      ? [
          {
            kind: "edge" as const,
            id: idOf(edge),
            path: ["edges", index, "data", "label"],
            message: `Value error, Transition tool name "${tool}" is duplicated for this node. Use a unique edge label.`
          }
        ]
      : []
  })
}

const looseEnds = (edges: ReadonlyArray<JsonObject>, nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const ids = new Set(nodes.map((node) => node["id"]))
  return gathered(edges, (edge, index) =>
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

/** The data of the node where a conversation begins; empty without such a node. */
export const startDataOf = (definition: JsonObject): JsonObject =>
  partsOf(definition, "nodes").find(({ type }) => type === "startCall")?.data ?? {}

/** The template of what the agent says first; undefined when it says nothing or plays a recording, in which case editors hide the text. */
export const greetingOf = (definition: JsonObject): string | undefined => {
  const start = startDataOf(definition)
  if (start["greeting_type"] === "audio") return undefined
  const greeting = textOf(start["greeting"]) ?? ""
  return greeting.trim() === "" ? undefined : greeting
}

const speechOf = (data: JsonObject): string => (data["transition_speech_type"] === "audio" ? "" : (textOf(data["transition_speech"]) ?? ""))

/** The variables that each contact must bring; undefined when the definition is malformed. */
export const requiredVariablesOf = (definition: JsonObject): ReadonlyArray<string> | undefined => {
  if (check(definition).length > 0) return undefined
  const prompts = partsOf(definition, "nodes")
    .filter(({ type }) => nodeTypeOf(type)?.promptedAs !== undefined)
    .map(({ data }) => textOf(data["prompt"]) ?? "")
  const speeches = partsOf(definition, "edges").map(({ data }) => speechOf(data))
  return [...new Set([...prompts, greetingOf(definition) ?? "", ...speeches].flatMap(requiredVariables))].sort()
}

/** The names that any text of the nodes and edges inserts, with a default or without. */
export const variablesUsedBy = ({ edges, nodes }: JsonObject): ReadonlySet<string> => {
  const names = new Set<string>()
  const read = (value: unknown): void => {
    if (typeof value === "string") for (const name of variablesIn(value)) names.add(name)
    if (typeof value === "object" && value !== null) Object.values(value).forEach(read)
  }
  read([nodes, edges])
  return names
}

/** The longest that a call of the agent may last. */
export const maxCallDurationSeconds = (configurations: JsonObject): number => {
  const wanted = configurations["max_call_duration"]
  if (typeof wanted !== "number" || !Number.isFinite(wanted)) return defaultMaxCallSeconds
  return Math.min(longestCallSeconds, Math.max(1, Math.floor(wanted)))
}
