/**
 * Extracts the variables of a conversation whose engine died in the middle of it: asks the agent's model about what was said, as at any other
 * end. A call whose transcript is not kept has nothing to extract from. A model that answers at once was never being asked when its engine died, and
 * reads answers together with the questions that it had asked, so it is not asked again.
 */
import { Cause, Clock, Context, Effect, Layer, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { saveVariables } from "#core/agent/conversation/Extraction.ts"
import { gatheredWith, type OpenExtraction, openExtractions } from "#core/conversation/brokenOff.ts"
import type { ConversationReport } from "#core/conversation/conversationReport.ts"
import { runOf } from "#core/conversation/ConversationStore.ts"
import type { OrganizationId, RunId } from "#core/Id.ts"
import type { JsonObject } from "#core/Json.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import type { LanguageModel } from "#core/model/LanguageModel.ts"

/** For all nodes of the graph together. Recording the call's end waits for this. */
const LONGEST = "20 seconds"

interface LeftCall {
  readonly organizationId: OrganizationId
  readonly runId: RunId
}

/** Returns the gathered context, completed as far as the model can tell. Never fails, and takes at most twenty seconds. */
export const LateExtraction = Context.Reference<(call: LeftCall, report: ConversationReport) => Effect.Effect<JsonObject>>(
  "runtime/conversation/LateExtraction",
  {
    defaultValue:
      () =>
      (_, { gathered }) =>
        Effect.succeed(gathered)
  }
)

const lost = Effect.logWarning("what a conversation that broke off was to find out is lost")

export const layer = Layer.effect(
  LateExtraction,
  Effect.gen(function* () {
    const plans = yield* ConversationPlans
    const services = yield* AgentServices
    const sql = yield* SqlClient.SqlClient
    const versions = yield* AgentVersions
    const completed = Effect.fnUntraced(function* ({ organizationId, runId }: LeftCall, report: ConversationReport) {
      const { gathered } = report
      const run = yield* runOf(sql, runId)
      if (run === undefined) return gathered
      const { agentDefinitionId, initialContext: context } = run
      const version = yield* versions.get(agentDefinitionId)
      const plan = yield* plans.planFor(organizationId, version, context)
      if (plan === undefined) return gathered
      const open = openExtractions({ context, now: yield* Clock.currentTimeMillis, plan }, report)
      if (open.length === 0) return gathered
      const { model } = yield* services.chosenFor(organizationId, version.configurations)
      const found = yield* Effect.scoped(Effect.flatMap(model, (opened) => allExtracted(opened, open)))
      return Object.keys(found).length === 0 ? gathered : gatheredWith(plan, gathered, found)
    })
    return (call: LeftCall, report: ConversationReport) =>
      completed(call, report).pipe(
        Effect.timeout(LONGEST),
        // Without the cause, which may quote the conversation.
        Effect.catchCause((cause) => (Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.as(lost, report.gathered)))
      )
  })
)

const allExtracted = (model: LanguageModel, open: ReadonlyArray<OpenExtraction>): Effect.Effect<JsonObject> =>
  model.isInstant === true
    ? Effect.succeed({})
    : Effect.map(
        Effect.forEach(open, (one) => extracted(model, one), { concurrency: "unbounded" }),
        (found) => Object.assign({}, ...found)
      )

/** The variables of one node; none if the model fails or returns nothing readable. */
const extracted = (model: LanguageModel, { read, request }: OpenExtraction): Effect.Effect<JsonObject> => {
  let call: JsonObject | undefined
  let text = ""
  return Stream.runForEach(model.answer(request), (part) =>
    Effect.sync(() => {
      if (part._tag === "Text") text += part.text
      if (part._tag === "ToolCall" && part.call.name === saveVariables) call = part.call.arguments
    })
  ).pipe(
    Effect.map(() => read(call ?? text)?.values ?? {}),
    Effect.catchTag("ModelError", ({ message, reason }) =>
      Effect.as(Effect.logWarning("language model failed", { message, model: model.model, provider: model.provider, reason }), {})
    )
  )
}
