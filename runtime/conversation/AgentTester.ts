/** Tries out stored agents with scripted callees: with their organization's own services, except those of its tools. */
import { Clock, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AgentInvalid } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { loadTools } from "#core/agent/conversation/GraphTools.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { toolUuidsIn } from "#core/agent/ToolNames.ts"
import { problemsOf } from "#core/agent/GraphRules.ts"
import { type AgentTestRequest, AgentTests, TooManyAgentTests } from "#core/agent/regression/AgentTests.ts"
import { misfits } from "#core/agent/regression/misfits.ts"
import { CalleeScriptsRefused, readScripts } from "#core/agent/regression/readScripts.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import { Sealer } from "#core/Sealer.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { rehearse } from "./rehearse.ts"

/** A request has half a minute. */
const LONGEST_MILLIS = 25_000
const AT_ONCE = 4
/** On this node. Each organization may have one. */
const MOST_RUNS = 4
const AGAIN_AFTER_SECONDS = 10

export const layer = Layer.effect(
  AgentTests,
  Effect.gen(function* () {
    const agents = yield* Agents
    const services = yield* AgentServices
    const sql = yield* SqlClient.SqlClient
    const sealing = Effect.provideService(Sealer, yield* Sealer)
    const running = new Set<OrganizationId>()

    const versionOf = (organizationId: OrganizationId, id: AgentId, { versionNumber }: AgentTestRequest) =>
      versionNumber === undefined ? agents.getLatest(organizationId, id) : agents.version(organizationId, id, versionNumber)

    const run = Effect.fnUntraced(function* (organizationId: OrganizationId, id: AgentId, request: AgentTestRequest) {
      const until = SteadyTime.nowOf(yield* Clock.Clock) + LONGEST_MILLIS
      const version = yield* versionOf(organizationId, id, request)
      const { configurations, definition, templateContextVariables, versionNumber, versionStatus } = version
      const problems = problemsOf(definition)
      const graph = problems.length > 0 ? undefined : compile(definition, configurations)
      if (graph === undefined) return yield* new AgentInvalid({ problems })
      const read = readScripts(request.document, templateContextVariables)
      if ("problems" in read) return yield* new CalleeScriptsRefused(read)
      const unknown = misfits(graph, read.scripts)
      if (unknown.length > 0) return yield* new CalleeScriptsRefused({ problems: unknown })
      const tools = yield* sealing(loadTools(sql, organizationId, toolUuidsIn(graph.definition)))
      const plan = { graph, ...tools, settings: settingsOf(configurations), canHear: true }
      const { model } = yield* services.chosenFor(organizationId, configurations)
      const verdicts = yield* Effect.forEach(
        read.scripts,
        (script) =>
          Effect.clockWith((clock) => {
            const limit = Duration.millis(Math.max(0, until - SteadyTime.nowOf(clock)))
            return rehearse({ plan, model, script, limit })
          }),
        { concurrency: AT_ONCE }
      )
      return { versionNumber, versionStatus, verdicts }
    })

    return {
      run: (organizationId, id, request) =>
        Effect.gen(function* () {
          if (running.has(organizationId) || running.size >= MOST_RUNS)
            return yield* new TooManyAgentTests({ retryAfterSeconds: AGAIN_AFTER_SECONDS })
          running.add(organizationId)
          return yield* Effect.ensuring(
            run(organizationId, id, request),
            Effect.sync(() => running.delete(organizationId))
          )
        })
    }
  })
)
