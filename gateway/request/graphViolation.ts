/** Faults of graphs and configurations, as clients are told of them. */
import type { GraphProblem } from "#core/agent/Agent.ts"
import { type ConfigurationProblem, isMissing } from "#core/Problem.ts"
import type { Violation } from "./Violation.ts"

/** Below `data` for a node; null for the node as a whole. */
const fieldOf = ({ kind, path }: GraphProblem): string | null => {
  const below = kind === "workflow" ? path : path.slice(2)
  return (kind === "node" && below[0] === "data" ? below.slice(1) : below).join(".") || null
}
/** A fault of a graph, with the place in `ctx` too, as editors look for it. */
export const graphViolation = (found: GraphProblem): Violation => ({
  type: isMissing(found) ? "missing" : "value_error",
  loc: ["body", "workflow_definition", ...found.path],
  msg: found.message,
  input: null,
  ctx: { error: {}, kind: found.kind, id: found.id, field: fieldOf(found) }
})
/** A fault of a document whose place in the body is known. */
export const misfit =
  (...at: ReadonlyArray<string>) =>
  (found: ConfigurationProblem): Violation => ({
    type: isMissing(found) ? "missing" : "value_error",
    loc: [...at, ...found.path],
    msg: found.message,
    input: null
  })

/** Why a graph that is stored cannot be published; editors mark nodes and edges by it. */
export interface InvalidGraph {
  readonly is_valid: false
  readonly errors: ReadonlyArray<Pick<GraphProblem, "kind" | "id" | "message"> & { readonly field: string | null }>
}

/** A sentence of its own stands without the words that mark it as a rule's. */
const sentence = (message: string): string => message.replace(/^Value error, (?=[A-Z])/, "")
const mostOfId = 200

export const invalidGraph = (problems: ReadonlyArray<GraphProblem>): InvalidGraph => ({
  is_valid: false,
  errors: problems.map((found) => ({
    kind: found.kind,
    id: found.id?.slice(0, mostOfId).toWellFormed() ?? null,
    field: found.kind === "workflow" ? null : (fieldOf(found)?.slice(0, mostOfId).toWellFormed() ?? null),
    message: sentence(found.message)
  }))
})
