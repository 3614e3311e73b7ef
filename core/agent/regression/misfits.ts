/** Finds names in scripts that the agent does not have: a test for a renamed node must not pass because the node is never reached. */
import type { ConversationGraph } from "#core/agent/conversation/ConversationGraph.ts"
import { type ConfigurationProblem, gathered } from "#core/Problem.ts"
import type { CalleeScript } from "./CalleeScript.ts"
import { isNode } from "./chooseStep.ts"

export const misfits = ({ nodes }: ConversationGraph, scripts: ReadonlyArray<CalleeScript>): ReadonlyArray<ConfigurationProblem> => {
  const all = [...nodes.values()]
  const edges = new Set(all.flatMap((node) => node.edges.flatMap(({ id, label }) => [id, label])))
  const unknownNodes = (names: ReadonlyArray<string>) =>
    names.flatMap((name, index) =>
      all.some((node) => isNode(node, name)) ? [] : [{ index, message: `The agent has no node '${name}' that a conversation enters` }]
    )
  const unknownEdges = (names: ReadonlyArray<string>) =>
    names.flatMap((name, index) => (edges.has(name) ? [] : [{ index, message: `The agent has no edge '${name}'` }]))

  return gathered(scripts, ({ callee, expected }, script) => {
    const steps = callee.flatMap(({ at }, index) =>
      at === undefined ? [] : unknownNodes([at]).map(({ message }) => ({ path: ["scripts", script, "callee", index, "at"], message }))
    )
    const expectedAt = (member: string, unknown: ReadonlyArray<{ readonly index: number; readonly message: string }>) =>
      unknown.map(({ index, message }) => ({ path: ["scripts", script, "expect", member, index], message }))
    return [
      ...steps,
      ...expectedAt("path", unknownNodes(expected.path ?? [])),
      ...expectedAt("edges", unknownEdges(expected.edges ?? [])),
      ...expectedAt("visits", unknownNodes(expected.visits)),
      ...expectedAt("never_visits", unknownNodes(expected.neverVisits))
    ]
  })
}
