/** The paths that request calls of an agent: the `trigger_path` of its API Trigger nodes. */
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import type { GraphProblem } from "./Agent.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import { gathered } from "#core/Problem.ts"
import { longestTriggerPath, triggerPathPattern } from "./IntegrationNodes.ts"

const pattern = new RegExp(triggerPathPattern)
const isTrigger = (node: unknown): node is JsonObject => isObject(node) && node["type"] === "trigger"
const pathOf = (node: JsonObject): unknown => (isObject(node["data"]) ? node["data"]["trigger_path"] : undefined)
const isMissing = (path: unknown): boolean => path === undefined || path === null || path === ""

export const triggerProblems = (nodes: ReadonlyArray<JsonObject>): ReadonlyArray<GraphProblem> => {
  const seen = new Set<unknown>()
  return gathered(nodes, (node, index) => {
    const path = pathOf(node)
    if (!isTrigger(node) || isMissing(path)) return []
    const message = formProblem(path) ?? (seen.has(path) ? "Trigger path is duplicated in this workflow." : undefined)
    seen.add(path)
    return message === undefined
      ? []
      : [
          {
            kind: "node" as const,
            id: typeof node["id"] === "string" ? node["id"] : null,
            path: ["nodes", index, "data", "trigger_path"],
            message: `Value error, ${message}`
          }
        ]
  })
}

const formProblem = (path: unknown): string | undefined => {
  if (typeof path !== "string") return "Trigger path must be a string."
  if (path.length > longestTriggerPath) return `Trigger path must be ${longestTriggerPath} characters or fewer.`
  return pattern.test(path)
    ? undefined
    : "Trigger path must be a single URL path segment using only letters, numbers, hyphens, and underscores."
}

const nodesOf = (definition: JsonObject): ReadonlyArray<unknown> => (Array.isArray(definition["nodes"]) ? definition["nodes"] : [])

export const hasTrigger = (definition: JsonObject): boolean => nodesOf(definition).some(isTrigger)

/** Gives each trigger a path: its own, else that of the node with the same id in `before`, else a new UUID. */
export const withPaths = (definition: JsonObject, before: JsonObject) => {
  const known = new Map(
    nodesOf(before)
      .filter(isTrigger)
      .map((node) => [node["id"], pathOf(node)])
  )
  return mapTriggers(definition, (node) => (isMissing(pathOf(node)) ? known.get(node["id"]) : pathOf(node)))
}

/** Gives each trigger a new path. */
export const withFreshPaths = (definition: JsonObject) => mapTriggers(definition, () => undefined)

const mapTriggers = Effect.fnUntraced(function* (definition: JsonObject, pathFor: (node: JsonObject) => unknown) {
  if (!hasTrigger(definition)) return definition
  const random = yield* SecureRandom.SecureRandom
  const nodes = yield* Effect.forEach(
    nodesOf(definition),
    Effect.fnUntraced(function* (node) {
      if (!isTrigger(node)) return node
      const path = pathFor(node)
      const data = isObject(node["data"]) ? node["data"] : {}
      return { ...node, data: { ...data, trigger_path: isMissing(path) ? yield* random.uuidV4() : path } }
    })
  )
  return { ...definition, nodes }
})
