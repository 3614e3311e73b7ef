/**
 * What a graph refers to by id, as far as calls may use it: tools, documents, recordings and credentials of its organization. Pure. The definition
 * may never have been checked. Calls do without what they do not find, so references are no reason to refuse a graph.
 */
import { isObject, type JsonObject } from "#core/Json.ts"
import { gathered } from "#core/Problem.ts"
import { isUuid } from "#core/Uuid.ts"
import type { GraphProblem } from "./Agent.ts"
import { problemAt } from "./AgentGraph.ts"
import { recordingOf } from "./Opening.ts"
import { preCallFetchOf } from "./PreCallFetch.ts"

export type ReferenceKind = "tool" | "document" | "recording" | "credential"

interface Reference {
  readonly kind: ReferenceKind
  readonly given: string
  /** As the database writes it. Undefined: nothing can have the given id. */
  readonly id: string | undefined
  /** The path from the definition's root. */
  readonly path: ReadonlyArray<string | number>
}
type Path = Reference["path"]

const isBlank = (given: unknown): boolean => given === undefined || given === null || (typeof given === "string" && given.trim() === "")

const byUuid = (kind: ReferenceKind, given: unknown, path: Path): ReadonlyArray<Reference> => {
  if (typeof given !== "string" || isBlank(given)) return []
  return [{ kind, given, id: isUuid(given) ? given.toLowerCase() : undefined, path }]
}

/** Only credentials are found with spaces around their ids. */
const credential = (given: unknown, path: Path): ReadonlyArray<Reference> =>
  byUuid("credential", typeof given === "string" ? given.trim() : given, path)

const listed = (kind: ReferenceKind, given: unknown, path: Path): ReadonlyArray<Reference> =>
  Array.isArray(given) ? given.flatMap((one: unknown, index) => byUuid(kind, one, [...path, index])) : []

const recording = (given: unknown, path: Path): ReadonlyArray<Reference> => {
  if (isBlank(given)) return []
  const name = recordingOf(given)
  const id = name === undefined ? undefined : name._tag === "Id" ? String(name.id) : name.recordingId
  return [{ kind: "recording", given: String(given), id, path }]
}

/** `fetches`: a call of the agent fetches variables before it begins. */
const inNode = (node: JsonObject, data: JsonObject, path: Path, fetches: boolean): ReadonlyArray<Reference> => {
  const at = (name: string): Path => [...path, "data", name]
  const { type } = node
  if (type === "webhook") return data["enabled"] === false ? [] : credential(data["credential_uuid"], at("credential_uuid"))
  if (type !== "startCall" && type !== "agentNode") return []
  const { document_uuids: documents, tool_uuids: tools } = data
  const own = [...listed("tool", tools, at("tool_uuids")), ...listed("document", documents, at("document_uuids"))]
  if (type !== "startCall") return own
  const [greeting, fetched] = ["greeting_recording_id", "pre_call_fetch_credential_uuid"]
  return [
    ...own,
    ...(data["greeting_type"] === "audio" ? recording(data[greeting], at(greeting)) : []),
    ...(fetches ? credential(data[fetched], at(fetched)) : [])
  ]
}

const inEdge = (data: JsonObject, path: Path): ReadonlyArray<Reference> => {
  const name = "transition_speech_recording_id"
  return data["transition_speech_type"] === "audio" ? recording(data[name], [...path, "data", name]) : []
}

const placed = (
  definition: JsonObject,
  list: "nodes" | "edges",
  read: (part: JsonObject, data: JsonObject, path: Path) => ReadonlyArray<Reference>
): ReadonlyArray<Reference> => {
  const parts = definition[list]
  if (!Array.isArray(parts)) return []
  return parts.flatMap((part: unknown, index) =>
    isObject(part) ? read(part, isObject(part["data"]) ? part["data"] : {}, [list, index]) : []
  )
}

export const referencesIn = (definition: JsonObject): ReadonlyArray<Reference> => {
  const fetches = preCallFetchOf(definition) !== undefined
  return [
    ...placed(definition, "nodes", (node, data, path) => inNode(node, data, path, fetches)),
    ...placed(definition, "edges", (_, data, path) => inEdge(data, path))
  ]
}

const names: Readonly<Record<ReferenceKind, string>> = {
  tool: "Tool",
  document: "Document",
  recording: "Recording",
  credential: "Credential"
}
const longestShown = 100

/** `exists`: what calls would find. What another organization has is missing like anything else. */
export const missing = (
  definition: JsonObject,
  references: ReadonlyArray<Reference>,
  exists: (kind: ReferenceKind, id: string) => boolean
): ReadonlyArray<GraphProblem> =>
  gathered(references, ({ given, id, kind, path }) => {
    if (id !== undefined && exists(kind, id)) return []
    const shown = given.slice(0, longestShown).toWellFormed()
    return [problemAt(definition, path, `Value error, ${names[kind]} '${shown}' does not exist${kind === "tool" ? " or is archived" : ""}`)]
  })
