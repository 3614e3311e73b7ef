/** The services of every agent: a language model that needs no configuration, and nothing that hears. */
import { Effect, Layer } from "effect"
import { AgentServices, type ChosenServices } from "#core/model/AgentServices.ts"
import type { LanguageModelProvider } from "#core/model/ModelProvider.ts"
import { EgressPolicy } from "#core/egress/Egress.ts"

export const layer = (provider: LanguageModelProvider) =>
  Layer.effect(
    AgentServices,
    Effect.gen(function* () {
      const { webhooks: egress } = yield* EgressPolicy
      const services: ChosenServices = { model: provider.open({}, { egress }), hearing: undefined }
      return { chosenFor: () => Effect.succeed(services) }
    })
  )
