/** What the conversation of a text chat follows. */
import type { AgentContent } from "#core/agent/Agent.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import type { ConversationEvent, ConversationPlan, ConversationState } from "#core/agent/conversation/ConversationState.ts"
import { step } from "#core/agent/conversation/Conversation.ts"
import type { GraphTools } from "#core/agent/conversation/GraphTools.ts"
import type { JsonObject } from "#core/Json.ts"

/** Longer than any message takes to answer: somebody who thinks before they write is no silent callee. */
const patienceMillis = 86_400_000

/**
 * As in a call, except for what only makes sense on a line: nobody waits before the agent speaks, for fillers or for a silent callee, and what is
 * written comes from a person, not from a machine. Undefined for a definition without a start.
 */
export const chatPlan = (
  { configurations, definition }: Pick<AgentContent, "configurations" | "definition">,
  tools: GraphTools,
  timeZone: string
): ConversationPlan | undefined => {
  const graph = compile(definition, configurations)
  if (graph === undefined) return undefined
  const settings = settingsOf(configurations)
  return {
    graph: { ...graph, start: { ...graph.start, delayMillis: 0 } },
    ...tools,
    settings: {
      ...settings,
      idleMillis: patienceMillis,
      maxCallMillis: patienceMillis,
      onMachine: undefined,
      lines: { ...settings.lines, fillers: [] }
    },
    timeZone,
    canHear: true
  }
}

const defaultIdleSeconds = 1800
const shortestIdleSeconds = 60
const longestIdleSeconds = 10_500

/** How long a chat waits for its next message. The settings may have been stored before they were validated. */
export const idleSecondsOf = (configurations: JsonObject): number => {
  const seconds = configurations["text_chat_inactivity_timeout_seconds"]
  if (typeof seconds !== "number" || !Number.isFinite(seconds)) return defaultIdleSeconds
  return Math.round(Math.min(longestIdleSeconds, Math.max(shortestIdleSeconds, seconds)))
}

/** Ends the conversation without asking the model for what it might still find out. */
export const endedAtOnce = (plan: ConversationPlan, state: ConversationState, event: ConversationEvent, now: number): ConversationState => {
  const ending = step(plan, state, event, now).state
  const limit = ending.timers.conclude
  return limit === undefined ? ending : step(plan, ending, { _tag: "TimerFired", id: limit.id }, now).state
}
