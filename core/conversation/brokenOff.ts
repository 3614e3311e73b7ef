/**
 * A conversation that broke off because its engine died: what was said in it, and what the visited nodes were still to find out. Its engine may have
 * died while a model was being asked, and it never got to ask about the last node.
 */
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import { type ConversationPlan, type ConversationState, fresh } from "#core/agent/conversation/ConversationState.ts"
import { type Extracted, extractedFrom } from "#core/agent/conversation/Extraction.ts"
import { gatheredOf } from "#core/agent/conversation/Gathered.ts"
import { type Entry, spokenEntry, userEntry, withEntries } from "#core/agent/conversation/History.ts"
import { extractionRequestFor } from "#core/agent/conversation/Requests.ts"
import { isObject, type JsonObject } from "#core/Json.ts"
import type { ModelRequest } from "#core/model/LanguageModel.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import type { ConversationReport } from "./conversationReport.ts"

/** What a model is still to be asked about one node. */
export interface OpenExtraction {
  readonly node: ConversationNode
  readonly request: ModelRequest
  /** `answer`: the arguments of the model's tool call, or else its text. */
  readonly read: (answer: JsonObject | string) => Extracted | undefined
}

type Left = Pick<ConversationReport, "events" | "gathered">

interface Known {
  readonly plan: ConversationPlan
  /** What was known before the call. */
  readonly context: JsonObject
  /** Epoch milliseconds. */
  readonly now: number
}

/** In the order of the nodes. None if nothing that the callee said was kept. */
export const openExtractions = ({ context, now, plan }: Known, { events, gathered }: Left): ReadonlyArray<OpenExtraction> => {
  const history = historyOf(events)
  if (!history.some(({ _tag }) => _tag === "User")) return []
  const variables = variablesIn(gathered)
  return visitedIn(plan, events).flatMap((node): ReadonlyArray<OpenExtraction> => {
    const { extraction } = node
    const open = extraction?.variables.filter(({ name }) => !Object.hasOwn(variables, name)) ?? []
    if (extraction === undefined || open.length === 0) return []
    const missing = { ...extraction, variables: open }
    const state: ConversationState = { ...fresh(plan), context, history, nodeId: node.id, variables }
    return [{ node, request: extractionRequestFor({ now, plan }, state, missing), read: (answer) => extractedFrom(missing, answer) }]
  })
}

/** The gathered context with these variables. What was known before stays, an opt-out above all. */
export const gatheredWith = (plan: ConversationPlan, gathered: JsonObject, found: JsonObject): JsonObject => {
  const tags = listIn(gathered, "call_tags")
  const state: ConversationState = {
    ...fresh(plan),
    variables: { ...found, ...variablesIn(gathered) },
    hasOptedOut: tags.includes("opted_out"),
    hasCalleeSpoken: true,
    visited: listIn(gathered, "nodes_visited")
  }
  const now = gatheredOf(state)
  return { ...now, ...gathered, ...(now["call_disposition"] === undefined ? {} : dispositionIn(now)), ...variablesAndTags(now, tags) }
}

const dispositionIn = ({ call_disposition, mapped_call_disposition }: JsonObject): JsonObject => ({
  call_disposition,
  mapped_call_disposition
})

const variablesAndTags = (now: JsonObject, before: ReadonlyArray<string>): JsonObject => ({
  extracted_variables: now["extracted_variables"],
  call_tags: [...new Set([...before, ...listIn(now, "call_tags")])]
})

const variablesIn = ({ extracted_variables: variables }: JsonObject): JsonObject => (isObject(variables) ? variables : {})

const listIn = (gathered: JsonObject, name: string): ReadonlyArray<string> => {
  const list = gathered[name]
  return Array.isArray(list) ? list.filter((one) => typeof one === "string") : []
}

const historyOf = (events: ReadonlyArray<FeedbackEvent>): ReadonlyArray<Entry> =>
  withEntries(
    [],
    ...events.flatMap(({ payload, type }, line): ReadonlyArray<Entry> => {
      const text = String(payload["text"])
      if (type === "rtf-user-transcription") return [userEntry(text)]
      return type === "rtf-bot-text" ? [spokenEntry(line, text)] : []
    })
  )

const visitedIn = ({ graph }: ConversationPlan, events: ReadonlyArray<FeedbackEvent>): ReadonlyArray<ConversationNode> => {
  const ids = events.flatMap(({ payload, type }) => (type === "rtf-node-transition" ? [String(payload["node_id"])] : []))
  return [...new Set(ids)].flatMap((id) => graph.nodes.get(id) ?? [])
}
