/**
 * Extracts the variables of a conversation whose engine died in the middle of it: asks the agent's model about what was said, as at any other
 * end. A call whose transcript is not kept has nothing to extract from. A model whose answers are free had given them all when its engine died, so it
 * is not asked again.
 */
import { Cause, Clock, Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import type { ConversationNode } from "#core/agent/conversation/ConversationGraph.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { saveVariables } from "#core/agent/conversation/Extraction.ts"
import { gatheredWith, type OpenExtraction, openExtractions } from "#core/conversation/brokenOff.ts"
import { extractionFailure } from "#core/conversation/ConversationRecord.ts"
import type { ConversationReport } from "#core/conversation/conversationReport.ts"
import { runOf } from "#core/conversation/ConversationStore.ts"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import type { LanguageModel, OpenLanguageModel } from "#core/model/LanguageModel.ts"
import type { FeedbackEvent } from "#core/run/RunRecord.ts"
import { CurrentConversationMetrics } from "#runtime/metrics/ConversationMetrics.ts"

/** For all nodes of the graph together. Recording the call's end waits for this. */
const LONGEST = "20 seconds"
/** For the model, so that there is time left to say that it did not answer. */
const LONGEST_ANSWER = "18 seconds"

interface LeftCall {
  readonly organizationId: OrganizationId
  readonly runId: RunId
}

/** What is known of the call in the end. */
type Completed = Pick<ConversationReport, "events" | "gathered">

/**
 * Returns the gathered context, completed as far as the model can tell, and the events, with those of extractions that failed. Never fails, and takes
 * at most twenty seconds.
 */
export const LateExtraction = Context.Reference<(call: LeftCall, report: ConversationReport) => Effect.Effect<Completed>>(
  "runtime/conversation/LateExtraction",
  { defaultValue: () => (_, report) => Effect.succeed(report) }
)

const lost = Effect.logWarning("what a conversation that broke off was to find out is lost")

export const layer = Layer.effect(
  LateExtraction,
  Effect.gen(function* () {
    const plans = yield* ConversationPlans
    const services = yield* AgentServices
    const sql = yield* SqlClient.SqlClient
    const versions = yield* AgentVersions
    const metrics = yield* CurrentConversationMetrics
    const prepared = Effect.fnUntraced(function* ({ organizationId, runId }: LeftCall, report: ConversationReport) {
      const run = yield* runOf(sql, runId)
      if (run === undefined) return undefined
      const { agentDefinitionId, initialContext: context } = run
      const version = yield* versions.get(agentDefinitionId)
      const plan = yield* plans.planFor(organizationId, version, context)
      const open = openExtractions({ context, now: yield* Clock.currentTimeMillis, plan }, report)
      const { model } = yield* services.chosenFor(organizationId, version.configurations)
      return { plan, open, model }
    })
    const completed = Effect.fnUntraced(function* (call: LeftCall, report: ConversationReport) {
      const known = yield* prepared(call, report)
      if (known === undefined || known.open.length === 0) return report
      const { model, open, plan } = known
      const found = yield* foundBy(model, open)
      const failed = open.filter((_, index) => found[index] === undefined).map(({ node }) => node)
      metrics.extractionsFailed += failed.length
      const at = new Date(yield* Clock.currentTimeMillis).toISOString()
      const values: JsonObject = Object.assign({}, ...found)
      return {
        events: [...report.events, ...failed.map((node) => failureEvent(node, at))],
        gathered: Object.keys(values).length === 0 ? report.gathered : gatheredWith(plan, report.gathered, values)
      }
    })
    return (call: LeftCall, report: ConversationReport) =>
      completed(call, report).pipe(
        Effect.timeout(LONGEST),
        // Without the cause, which may quote the conversation.
        Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.as(lost, report)))
      )
  })
)

const failureEvent = (node: ConversationNode, timestamp: string): FeedbackEvent => ({
  type: "rtf-pipeline-error",
  payload: extractionFailure(node),
  timestamp,
  turn: 0,
  node_id: node.id,
  node_name: node.name
})

/** The variables of each node; undefined for those of which nothing was found out. */
const foundBy = (open: OpenLanguageModel, all: ReadonlyArray<OpenExtraction>): Effect.Effect<ReadonlyArray<JsonObject | undefined>> => {
  const none = all.map(() => undefined)
  return Effect.flatMap(open, (model) =>
    model.isFree === true
      ? Effect.succeed(all.map(() => ({})))
      : Effect.forEach(all, (one) => inTime(extracted(model, one)), { concurrency: "unbounded" })
  ).pipe(
    Effect.scoped,
    Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.as(lost, none)))
  )
}

const inTime = Effect.timeoutOrElse({ duration: LONGEST_ANSWER, orElse: () => Effect.as(lost, undefined) })

/** Undefined if the model fails or returns nothing readable. Like in a call, it is then asked once more, unless it would fail again. */
const extracted = (model: LanguageModel, one: OpenExtraction): Effect.Effect<JsonObject | undefined> =>
  Effect.gen(function* () {
    const first = yield* askedOnce(model, one)
    return first.isRetryable ? (yield* askedOnce(model, one)).values : first.values
  })

const askedOnce = (model: LanguageModel, { read, request }: OpenExtraction) => {
  let call: JsonObject | undefined
  let text = ""
  return Stream.runForEach(model.answer(request), (part) =>
    Effect.sync(() => {
      if (part._tag === "Text") text += part.text
      if (part._tag === "ToolCall" && part.call.name === saveVariables) call = part.call.arguments
    })
  ).pipe(
    Effect.map(() => {
      const values = read(call ?? text)?.values
      return { values, isRetryable: values === undefined }
    }),
    Effect.catchTag("ModelError", ({ isRetryable, message, reason }) =>
      Effect.as(Effect.logWarning("language model failed", { message, model: model.model, provider: model.provider, reason }), {
        values: undefined,
        isRetryable
      })
    )
  )
}
