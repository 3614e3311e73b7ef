/** The conversation planned for a call. */
import { Effect } from "effect"
import type { AgentVersion } from "#core/agent/Agent.ts"
import { bargeInOf } from "#core/agent/BargeInSettings.ts"
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import { modelNodeOf } from "#core/agent/conversation/Requests.ts"
import type { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import type { OrganizationId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import type { ChosenServices } from "#core/model/AgentServices.ts"
import type { RecognizerHints } from "#core/model/SpeechToText.ts"
import type { PlannedTalk } from "#runtime/voice/VoiceSession.ts"

export interface TalkPlanner {
  readonly plans: ConversationPlans["Service"]
}

interface Wanted {
  readonly chosen: ChosenServices
  readonly version: AgentVersion
  readonly organizationId: OrganizationId
  /** See `PlannedTalk`. */
  readonly known: JsonObject
  readonly later: PlannedTalk["later"]
  /** False for a call of an earlier process that has talked to the callee: nobody knows how far the conversation had got. */
  readonly mayHear: boolean
  /** The provider ends calls that last longer than this. */
  readonly longestCallSeconds: number | undefined
}

/** A call should end by itself this long before its provider would end it. */
const goodbyeSeconds = 10

export const plannedTalk = Effect.fnUntraced(function* (
  { plans }: TalkPlanner,
  { chosen, known, later, longestCallSeconds = Number.POSITIVE_INFINITY, mayHear, organizationId, version }: Wanted
): Effect.fn.Return<PlannedTalk> {
  const { configurations } = version
  const { endOfTurn, model, substitutes } = chosen
  const plan = yield* plans.planFor(organizationId, version, known)
  const hearing = mayHear && plan.canHear ? chosen.hearing : undefined
  const maxCallMillis = Math.min(plan.settings.maxCallMillis, (longestCallSeconds - goodbyeSeconds) * 1000)
  return {
    plan: { ...plan, canHear: hearing !== undefined, settings: { ...plan.settings, maxCallMillis } },
    model,
    hearing,
    substitutes,
    endOfTurn,
    bargeIn: bargeInOf(configurations),
    known,
    later,
    hintsAt: hintsWith(configurations, chosen)
  }
})

const mostKeyterms = 100

/** What callees may say at each node, for recognizers. */
export const hintsWith = (configurations: JsonObject, { expected, language }: Pick<ChosenServices, "expected" | "language">) => {
  const { dictionary } = configurations
  const words = typeof dictionary === "string" ? dictionary.split(",").map((word) => word.trim()) : []
  const always = {
    language,
    keyterms: words.filter((word) => word !== "").slice(0, mostKeyterms)
  }
  return (node: ConversationNode): RecognizerHints => ({
    ...always,
    phrases: node.edges.flatMap(({ phrases }) => phrases),
    grammar: expected && grammarAt(node, expected)
  })
}

type Expected = NonNullable<ChosenServices["expected"]>

/** Cached by node, because the calls of a version share its nodes, which never change: writing a grammar takes half a millisecond. */
const grammars = new WeakMap<ConversationNode, { readonly expected: Expected; readonly grammar: string }>()

const grammarAt = (node: ConversationNode, expected: Expected): string => {
  const before = grammars.get(node)
  if (before?.expected === expected) return before.grammar
  const grammar = expected(modelNodeOf({ prompt: node.prompt, misunderstood: 0 }, node))
  grammars.set(node, { expected, grammar })
  return grammar
}
