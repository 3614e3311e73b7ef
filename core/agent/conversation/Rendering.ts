/** Renders the agent's texts with what is known about the callee and what the conversation has gathered so far. */
import { isObject, type JsonObject } from "#core/Json.ts"
import { render } from "#core/agent/Template.ts"
import type { ConversationNode } from "./ConversationGraph.ts"
import type { ConversationState, Scene } from "./ConversationState.ts"
import { gatheredOf } from "./Gathered.ts"

const gatheredPath = "gathered_context"

/** `{{gathered_context.x}}` is the current `x` of the run. */
export const rendered = ({ now }: Scene, state: ConversationState, template: string): string => {
  const { context } = state
  return render(template, template.includes(gatheredPath) ? { ...context, [gatheredPath]: harmless(gatheredOf(state)) } : context, now)
}

const instructionsFrom = (global: string, prompt: string): string => [global, prompt].filter((part) => part.trim() !== "").join("\n\n")

/** The node's prompt while the conversation is at it. */
export const renderedPrompts = (scene: Scene, node: ConversationNode, state: ConversationState) => {
  const prompt = rendered(scene, state, node.prompt)
  const global = node.addsGlobalPrompt ? rendered(scene, state, scene.plan.graph.globalPrompt) : ""
  return { prompt, instructions: instructionsFrom(global, prompt) }
}

/** Variables are extracted in the background, so they may arrive after the node that shows them was entered. */
export const showsGathered = ({ plan: { graph } }: Scene, { addsGlobalPrompt, prompt }: ConversationNode): boolean =>
  prompt.includes(gatheredPath) || (addsGlobalPrompt && graph.globalPrompt.includes(gatheredPath))

/** As much as a contact's own greeting may have. */
const longestText = 4000
const mostMembers = 500
const deepest = 10

/**
 * The context as prompts may show it. It comes from files and other people's servers: it is only data, so it must contain neither control
 * characters nor the marks with which a model chooses recordings, and must not crowd out the prompt.
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
/** Control characters except line breaks and tabs, and the marks of recordings. */
const unwanted = /[^\P{Cc}\n\t]+|[▸●]/gu
