/**
 * What a scripted callee does at their turn: the first step that is not used up and whose conditions hold. Steps without conditions therefore
 * come in order, and steps for a node or for the agent's words whenever they fit.
 */
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import type { CalleeStep } from "./CalleeScript.ts"
import { searchIn } from "./words.ts"

interface Turn {
  readonly node: ConversationNode | undefined
  /** What the agent has said since the callee's last turn. */
  readonly heard: ReadonlyArray<string>
}

/** How often each step has been used. */
type Used = ReadonlyMap<CalleeStep, number>

const isLeft = (step: CalleeStep, used: Used): boolean => (used.get(step) ?? 0) < step.times
export const isNode = ({ id, name }: ConversationNode, called: string): boolean => id === called || name === called

const fits = ({ at, hears }: CalleeStep, node: Turn["node"], isHeard: (words: string) => boolean): boolean =>
  (at === undefined || (node !== undefined && isNode(node, at))) && (hears === undefined || isHeard(hears))

/** `NothingLeft`: the script is at its end. `NothingFits`: steps are left, but none fits this turn. */
export const chooseStep = (
  steps: ReadonlyArray<CalleeStep>,
  used: Used,
  { heard, node }: Turn
): CalleeStep | "NothingLeft" | "NothingFits" => {
  const left = steps.filter((step) => isLeft(step, used))
  const isHeard = searchIn([heard.join(" ")])
  return left.find((step) => fits(step, node, isHeard)) ?? (left.length === 0 ? "NothingLeft" : "NothingFits")
}

/** Steps without conditions that were never used: the call ended before the callee had said everything in the script. */
export const neverDone = (steps: ReadonlyArray<CalleeStep>, used: Used): ReadonlyArray<CalleeStep> =>
  steps.filter((step) => step.at === undefined && step.hears === undefined && !used.has(step))
