/** Entering a node, and how a conversation opens. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { openingOf } from "#core/agent/Opening.ts"
import { render } from "#core/agent/Template.ts"
import type { ConversationNode } from "./ConversationGraph.ts"
import { act, nodeOf, put, type Scene, type Step } from "./ConversationState.ts"
import { ask } from "./Asking.ts"
import { endAfterLines, endFor } from "./Ending.ts"
import { gatheredOf } from "./Gathered.ts"
import { renderedPrompts } from "./Requests.ts"
import { play, say } from "./Speech.ts"

/** Circles are legal, but no conversation enters this many nodes. */
const mostEntries = 50

/** The system prompt and the tools are replaced; what was said stays. */
export const enter = (step: Step, scene: Scene, node: ConversationNode): Step => {
  const { context, entries, visited } = step.state
  const previous = entries === 0 ? undefined : nodeOf(scene, step.state)
  const entered = put(step, {
    nodeId: node.id,
    entries: entries + 1,
    misunderstood: 0,
    visited: visited.includes(node.name) ? visited : [...visited, node.name],
    ...renderedPrompts(scene, node, context)
  })
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

/** The contact's greeting, else the start node's recording or text, else whatever the model begins with. */
const open = (step: Step, scene: Scene): Step => {
  const { now, plan } = scene
  const { context } = step.state
  const { recording, text } = openingOf(plan.graph.definition, context)
  const isInterruptible = plan.graph.start.allowsInterruption
  const greeting = text === undefined ? "" : render(text, context, now)
  if (recording !== undefined) return play(step, recording, { isInterruptible }, greeting)
  return greeting.trim() === "" ? speakFirst(step, scene) : say(step, greeting, { isInterruptible, isTold: true })
}

export const begin = (step: Step, scene: Scene): Step => open(enter(put(step, { phase: "live" }), scene, scene.plan.graph.start), scene)

const longestText = 2000
const mostMembers = 500
const deepest = 10

/**
 * The context as prompts may show it. It comes from files and from servers of others: what it holds is data, so it cannot bring control characters
 * nor the marks by which a model chooses recordings, and cannot crowd out the prompt.
 */
export const harmless = (context: JsonObject): JsonObject => {
  let left = mostMembers
  const part = (value: unknown, depth: number): unknown => {
    if (left-- <= 0) return null
    if (typeof value === "string") return value.slice(0, longestText).toWellFormed().replaceAll(unwanted, " ")
    if (typeof value !== "object" || value === null) return value
    if (depth === deepest) return null
    if (Array.isArray(value)) return value.slice(0, mostMembers).map((one) => part(one, depth + 1))
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, mostMembers)
        .map(([name, one]) => [name.slice(0, longestText), part(one, depth + 1)])
    )
  }
  const cleaned = part(context, 0)
  return isObject(cleaned) ? cleaned : {}
}
/** Control characters but for line breaks and tabs, and the marks of recordings. */
const unwanted = /[^\P{Cc}\n\t]+|[▸●]/gu
