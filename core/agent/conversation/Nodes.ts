/** Entering a node, and how a conversation opens. */
import { openingOf } from "#core/agent/Opening.ts"
import type { RecordingName } from "#core/agent/RecordingName.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ConversationNode } from "./ConversationGraph.ts"
import { act, type ConversationState, fresh, nodeOf, put, type Scene, type Step } from "./ConversationState.ts"
import { ask } from "./Asking.ts"
import { endAfterLines, endFor } from "./Ending.ts"
import { gatheredOf } from "./Gathered.ts"
import { harmless, rendered, renderedPrompts } from "./Rendering.ts"
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

interface PlannedOpening {
  /** Undefined if the greeting is spoken. */
  readonly recording: RecordingName | undefined
  /** Empty if the agent has none. Beside a recording, it is spoken if that cannot be played. */
  readonly greeting: string
  readonly isOverrideIgnored: boolean
}

/** What a conversation with somebody of whom this is known will open with. */
export const plannedOpening = (scene: Scene, context: JsonObject): PlannedOpening =>
  openingAt(scene, { ...fresh(scene.plan), context: harmless(context) })

const openingAt = (scene: Scene, state: ConversationState): PlannedOpening => {
  const { isOverrideIgnored, recording, text } = openingOf(scene.plan.graph.definition, state.context)
  const greeting = text === undefined ? "" : rendered(scene, state, text)
  return { recording, greeting: greeting.trim() === "" ? "" : greeting, isOverrideIgnored }
}

/** The contact's greeting, otherwise the start node's recording or text, otherwise whatever the model begins with. */
export const open = (step: Step, scene: Scene): Step => {
  const { greeting, isOverrideIgnored, recording } = openingAt(scene, step.state)
  const noted = isOverrideIgnored ? act(step, { _tag: "Note", note: { _tag: "GreetingIgnored" } }) : step
  const isInterruptible = scene.plan.graph.start.allowsInterruption
  if (recording !== undefined) return play(noted, recording, { isInterruptible }, greeting)
  return greeting === "" ? speakFirst(noted, scene) : say(noted, greeting, { isInterruptible, isTold: true })
}

export const begin = (step: Step, scene: Scene): Step => open(enter(put(step, { phase: "live" }), scene, scene.plan.graph.start), scene)
