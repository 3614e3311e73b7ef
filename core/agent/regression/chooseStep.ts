/**
 * What a scripted callee does at their turn: the first step that has not been used up, and whose conditions hold. Steps without conditions thus
 * come in their order, and steps for a node or for the agent's words whenever they fit.
 */
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { CalleeStep } from "./CalleeScript.ts"
import { isSaid } from "./words.ts"

interface Turn {
  readonly node: ConversationNode | undefined
  /** What the agent has said since the callee's last turn. */
  readonly heard: ReadonlyArray<string>
}

/** How often each step has been used. */
type Used = ReadonlyMap<CalleeStep, number>

const isLeft = (step: CalleeStep, used: Used): boolean => (used.get(step) ?? 0) < step.times
export const isNode = ({ id, name }: ConversationNode, called: string): boolean => id === called || name === called

const fits = ({ at, hears }: CalleeStep, { heard, node }: Turn): boolean =>
  (at === undefined || (node !== undefined && isNode(node, at))) && (hears === undefined || isSaid(hears, heard.join(" ")))

/** `NothingLeft`: the script is at its end. `NothingFits`: it is not, but foresees nothing for this turn. */
export const chooseStep = (steps: ReadonlyArray<CalleeStep>, used: Used, turn: Turn): CalleeStep | "NothingLeft" | "NothingFits" => {
  const left = steps.filter((step) => isLeft(step, used))
  return left.find((step) => fits(step, turn)) ?? (left.length === 0 ? "NothingLeft" : "NothingFits")
}

/** Steps without conditions that were never done: the call ended before the callee had said all that the script foresees. */
export const neverDone = (steps: ReadonlyArray<CalleeStep>, used: Used): ReadonlyArray<CalleeStep> =>
  steps.filter((step) => step.at === undefined && step.hears === undefined && !used.has(step))
