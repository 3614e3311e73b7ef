/** Entering a node, and how a conversation opens. */
import { openingOf } from "#core/agent/Opening.ts"
import type { ConversationNode } from "./ConversationGraph.ts"
import { act, nodeOf, put, type Scene, type Step } from "./ConversationState.ts"
import { ask } from "./Asking.ts"
import { endAfterLines, endFor } from "./Ending.ts"
import { gatheredOf } from "./Gathered.ts"
import { rendered, renderedPrompts } from "./Rendering.ts"
import { play, say } from "./Speech.ts"

/** Cycles are allowed, but no reasonable conversation enters this many nodes. */
const mostEntries = 50

/** The system prompt and the tools are replaced; the history stays. */
export const enter = (step: Step, scene: Scene, node: ConversationNode): Step => {
  const { entries, visited } = step.state
  const previous = entries === 0 ? undefined : nodeOf(scene, step.state)
  const known = put(step, {
    nodeId: node.id,
    entries: entries + 1,
    misunderstood: 0,
    visited: visited.includes(node.name) ? visited : [...visited, node.name]
  })
  const entered = put(known, renderedPrompts(scene, node, known.state))
  return act(
    entered,
    { _tag: "Note", note: { _tag: "NodeEntered", node, previous } },
    { _tag: "Remember", gathered: gatheredOf(entered.state) }
  )
}

/** The node speaks first. */
export const speakFirst = (step: Step, scene: Scene): Step =>
  step.state.entries > mostEntries
    ? endAfterLines(say(step, scene.plan.settings.lines.apology, { isInterruptible: false }), scene, endFor("pipeline_error"))
    : ask(step, scene, "turn")

/** The contact's greeting, otherwise the start node's recording or text, otherwise whatever the model begins with. */
const open = (step: Step, scene: Scene): Step => {
  const { plan } = scene
  const { recording, text } = openingOf(plan.graph.definition, step.state.context)
  const isInterruptible = plan.graph.start.allowsInterruption
  const greeting = text === undefined ? "" : rendered(scene, step.state, text)
  if (recording !== undefined) return play(step, recording, { isInterruptible }, greeting)
  return greeting.trim() === "" ? speakFirst(step, scene) : say(step, greeting, { isInterruptible, isTold: true })
}

export const begin = (step: Step, scene: Scene): Step => open(enter(put(step, { phase: "live" }), scene, scene.plan.graph.start), scene)
