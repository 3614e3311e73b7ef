/** Problems of agent graphs and configurations as clients see them. */
import type { GraphProblem } from "#core/agent/Agent.ts"
import type { ConfigurationProblem } from "#core/Problem.ts"
import type { Violation } from "./Violation.ts"

/** The path below the node or edge, for a node below its `data`; null: the whole of it. */
const fieldOf = ({ kind, path }: GraphProblem): string | null => {
  const below = kind === "workflow" ? path : path.slice(2)
  return (kind === "node" && below[0] === "data" ? below.slice(1) : below).join(".") || null
}
/** A problem of a graph, with its place in `ctx` too, where editors look for it. */
export const graphViolation = (found: GraphProblem): Violation => ({
  type: found.isMissing === true ? "missing" : "value_error",
  loc: ["body", "workflow_definition", ...found.path],
  msg: found.message,
  input: null,
  ctx: { error: {}, kind: found.kind, id: found.id, field: fieldOf(found) }
})
/** A problem of a document that is at this place in the body. */
export const misfit =
  (...at: ReadonlyArray<string>) =>
  (found: ConfigurationProblem): Violation => ({
    type: found.isMissing === true ? "missing" : "value_error",
    loc: [...at, ...found.path],
    msg: found.message,
    input: null
  })

/** Why a stored graph cannot be published; editors mark nodes and edges by it. */
export interface InvalidGraph {
  readonly is_valid: false
  readonly errors: ReadonlyArray<Pick<GraphProblem, "kind" | "id" | "message"> & { readonly field: string | null }>
}

/** A full sentence needs no `Value error` in front of it. */
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
