/**
 * An agent's graph as conversations run it, compiled once per version from the stored definition. The definition may never have been validated,
 * so malformed parts are left out. So are nodes that no conversation passes through (`webhook`, `qa`, `trigger`, `tuner`, `paygent`, `noveum`).
 */
import { isObject, type JsonObject, partIn } from "#core/Json.ts"
import type { ExtractedVariable } from "#core/model/LanguageModel.ts"
import { toolNameOf } from "#core/agent/AgentGraph.ts"
import { recordingOf } from "#core/agent/Opening.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"

export interface ConversationEdge {
  readonly id: string
  /** The name of the tool that the model calls to follow the edge; unique among the node's edges. */
  readonly tool: string
  readonly label: string
  readonly condition: string
  /** The author's examples of answers that lead along the edge. */
  readonly phrases: ReadonlyArray<string>
  readonly target: string
  readonly leadsTo: "agentNode" | "endCall"
  /** What is said while the edge is followed: a template or a recording. */
  readonly speech:
    | { readonly _tag: "Text"; readonly template: string }
    | { readonly _tag: "Recording"; readonly name: RecordingName }
    | undefined
}

export interface Extraction {
  /** A template; may be empty. */
  readonly prompt: string
  readonly variables: ReadonlyArray<ExtractedVariable>
}

export interface ConversationNode {
  readonly id: string
  readonly type: "startCall" | "agentNode" | "endCall"
  readonly name: string
  /** A template. */
  readonly prompt: string
  readonly allowsInterruption: boolean
  readonly addsGlobalPrompt: boolean
  readonly extraction: Extraction | undefined
  /** Lower case. */
  readonly toolUuids: ReadonlyArray<string>
  readonly edges: ReadonlyArray<ConversationEdge>
  /** How long the agent waits before it begins; only at the start. */
  readonly delayMillis: number
}

export interface ConversationGraph {
  /** As stored; the opening is read from it. */
  readonly definition: JsonObject
  readonly start: ConversationNode
  readonly nodes: ReadonlyMap<string, ConversationNode>
  /** A template; empty when there is none. */
  readonly globalPrompt: string
}

const defaultDelaySeconds = 2
const longestDelaySeconds = 10
const mostVariables = 50

const partsOf = (parts: unknown): ReadonlyArray<JsonObject> => (Array.isArray(parts) ? parts.filter(isObject) : [])
const dataOf = (part: JsonObject): JsonObject => (isObject(part["data"]) ? part["data"] : {})
const textIn = (part: JsonObject, name: string): string => {
  const value = part[name]
  return typeof value === "string" ? value : ""
}
const textsIn = (list: unknown): ReadonlyArray<string> => (Array.isArray(list) ? list.filter((one) => typeof one === "string") : [])
const nodeTypeIn = (node: JsonObject): ConversationNode["type"] | undefined => {
  const { type } = node
  return type === "startCall" || type === "agentNode" || type === "endCall" ? type : undefined
}

/** Undefined when the definition has no start node. The phrases of the edges come from the agent's `configurations`. */
export const compile = (definition: JsonObject, configurations: JsonObject = {}): ConversationGraph | undefined => {
  const parts = partsOf(definition["nodes"])
  const edgesFrom = Map.groupBy(partsOf(definition["edges"]), ({ source }) => source)
  const types = new Map(parts.map((node) => [textIn(node, "id"), nodeTypeIn(node)]))
  // Stored with what the built-in model is told, but callees say the same whichever model answers them.
  const phrases = partIn(configurations["embedded"], "edges")
  const nodes = new Map<string, ConversationNode>()
  for (const part of parts) {
    const node = nodeOf(part, edgesOf(edgesFrom.get(part["id"]) ?? [], types, phrases))
    // Of two nodes with the same id, the first one counts.
    if (node !== undefined && !nodes.has(node.id)) nodes.set(node.id, node)
  }
  const start = [...nodes.values()].find(({ type }) => type === "startCall")
  const global = parts.find(({ type }) => type === "globalNode")
  return start === undefined
    ? undefined
    : { definition, start, nodes, globalPrompt: global === undefined ? "" : textIn(dataOf(global), "prompt") }
}

/** What takes the place of a graph that has no start node: an agent that says nothing. */
export const withoutStart: ConversationGraph = {
  definition: {},
  start: {
    id: "",
    type: "startCall",
    name: "",
    prompt: "",
    allowsInterruption: false,
    addsGlobalPrompt: false,
    extraction: undefined,
    toolUuids: [],
    edges: [],
    delayMillis: 0
  },
  nodes: new Map(),
  globalPrompt: ""
}

const nodeOf = (part: JsonObject, edges: ReadonlyArray<ConversationEdge>): ConversationNode | undefined => {
  const type = nodeTypeIn(part)
  if (type === undefined) return undefined
  const data = dataOf(part)
  return {
    id: textIn(part, "id"),
    type,
    name: textIn(data, "name"),
    prompt: textIn(data, "prompt"),
    allowsInterruption: data["allow_interrupt"] === true,
    addsGlobalPrompt: data["add_global_prompt"] !== false,
    extraction: extractionOf(data),
    toolUuids: type === "endCall" ? [] : [...new Set(textsIn(data["tool_uuids"]).map((uuid) => uuid.toLowerCase()))],
    edges: type === "endCall" ? [] : edges,
    delayMillis: type === "startCall" ? delayOf(data) : 0
  }
}

const delayOf = (data: JsonObject): number => {
  if (data["delayed_start"] !== true) return 0
  const seconds = data["delayed_start_duration"]
  const wanted = typeof seconds === "number" && seconds > 0 ? seconds : defaultDelaySeconds
  return Math.round(Math.min(wanted, longestDelaySeconds) * 1000)
}

const variableTypes = ["string", "number", "boolean"] as const

const extractionOf = (data: JsonObject): Extraction | undefined => {
  if (data["extraction_enabled"] !== true) return undefined
  const variables = partsOf(data["extraction_variables"]).flatMap((row): ReadonlyArray<ExtractedVariable> => {
    const name = textIn(row, "name").trim()
    const type = variableTypes.find((one) => one === (row["type"] ?? "string"))
    return name === "" || type === undefined ? [] : [{ name, type, prompt: textIn(row, "prompt") }]
  })
  const unique = [...new Map(variables.map((variable) => [variable.name, variable])).values()].slice(0, mostVariables)
  return unique.length === 0 ? undefined : { prompt: textIn(data, "extraction_prompt"), variables: unique }
}

type TypesById = ReadonlyMap<string, ConversationNode["type"] | undefined>

/** `phrases`: by the ids of edges, as stored. */
const edgesOf = (parts: ReadonlyArray<JsonObject>, types: TypesById, phrases: JsonObject | undefined): ReadonlyArray<ConversationEdge> => {
  const taken = new Set<string>()
  return parts.flatMap((part): ReadonlyArray<ConversationEdge> => {
    const type = types.get(textIn(part, "target"))
    const data = dataOf(part)
    const label = textIn(data, "label")
    if (type === undefined || type === "startCall" || label === "") return []
    const tool = freeName(toolNameOf(label), taken)
    taken.add(tool)
    return [
      {
        id: textIn(part, "id"),
        tool,
        label,
        condition: textIn(data, "condition"),
        phrases: textsIn(partIn(phrases, textIn(part, "id"))?.["phrases"]),
        target: textIn(part, "target"),
        leadsTo: type,
        speech: speechOf(data)
      }
    ]
  })
}

/** Labels without a Latin letter all give the same name, so names are numbered. */
const freeName = (name: string, taken: ReadonlySet<string>): string => {
  let free = name
  for (let count = 2; taken.has(free); count++) free = `${name.slice(0, 60)}_${count}`
  return free
}

const speechOf = (data: JsonObject): ConversationEdge["speech"] => {
  if (data["transition_speech_type"] === "audio") {
    const name = recordingOf(data["transition_speech_recording_id"])
    return name === undefined ? undefined : { _tag: "Recording", name }
  }
  const template = textIn(data, "transition_speech")
  return template.trim() === "" ? undefined : { _tag: "Text", template }
}
