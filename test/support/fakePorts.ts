/** Ports of the in-memory world behind which next to nothing happens. */
import { Effect, Layer } from "effect"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import { compile, withoutStart } from "#core/agent/conversation/ConversationGraph.ts"
import { ConversationPlans } from "#core/agent/conversation/ConversationPlans.ts"
import { settingsOf } from "#core/agent/conversation/ConversationSettings.ts"
import { compileTools } from "#core/agent/conversation/ConversationTool.ts"
import { AgentServices } from "#core/model/AgentServices.ts"
import type { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"
import { TrunkOutages } from "#core/telephony/TrunkOutages.ts"
import { type CollectedConversation, ConversationRecords } from "#runtime/conversation/ConversationRecords.ts"
import type { World } from "./fakes.ts"

/** The agents: one version, the tools of its organization, and the services that it speaks with. */
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
          const graph = compile(definition, configurations)
          const [settings, tools] = [settingsOf(configurations), compileTools(world.tools)]
          return { graph: graph ?? withoutStart, settings, timeZone: "UTC", tools, canHear: graph !== undefined }
        })
    }),
    Layer.succeed(AgentServices, { chosenFor: () => Effect.sync(() => world.services) })
  )

/** The inbox of a provider that sends no callbacks. */
export const noDeliveries: CarrierDeliveries["Service"] = {
  callOf: () => Effect.undefined,
  late: Effect.succeed([]),
  of: () => Effect.succeed([]),
  store: (deliveries) => Effect.succeed(deliveries.map(() => "first"))
}

export const noOutages = Layer.succeed(TrunkOutages, {
  began: () => Effect.void,
  ended: () => Effect.void,
  keepFor: () => Effect.void,
  tell: () => Effect.succeed({ isPending: false, told: [] }),
  untold: Effect.succeed([])
})

/** Calls that leave no conversation behind, or the given one. */
export const leaving = (conversation: () => CollectedConversation | undefined) =>
  Layer.succeed(ConversationRecords, {
    open: () => ({ note: () => {} }),
    brokeOff: () => {},
    collect: () => Effect.sync(conversation),
    settled: () => {},
    optedOut: () => Effect.void
  })

export const noConversations = leaving(() => undefined)
