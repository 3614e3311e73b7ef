/** The agents of the in-memory world: one version, the tools of its organization, and the services that it speaks with. */
import { Effect, Layer } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { compile } from "#core/agent/conversation/ConversationGraph.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { compileTools } from "#core/agent/conversation/ConversationTool.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import type { World } from "./fakes.ts"

export const agentsOf = (world: World) =>
  Layer.mergeAll(
    Layer.succeed(AgentVersions, {
      // The supervisor reads only these fields of a version.
      get: () =>
        Effect.suspend(() =>
          Effect.as(world.finding, {
            agentId: world.plan.agentId,
            configurations: world.configurations,
            definition: world.definition,
            flaw: undefined
          } as never)
        )
    }),
    Layer.succeed(ConversationPlans, {
      planFor: (_, { configurations, definition }) =>
        Effect.sync(() => {
          const graph = compile(definition)
          const tools = compileTools(world.tools)
          return graph === undefined ? undefined : { graph, settings: settingsOf(configurations), timeZone: "UTC", tools }
        })
    }),
    Layer.succeed(AgentServices, { chosenFor: () => Effect.sync(() => world.services) })
  )
