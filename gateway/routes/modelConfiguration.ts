/** /api/v1/organizations/model-configurations: what `/user/configurations/user` tells service by service, as one document. */
import { Effect } from "effect"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  ModelConfigurationDefaultsWire,
  modelConfigurationDefaults,
  ModelConfigurationWire,
  modelConfigurationWire,
  modelDocumentSize,
  ModelPricing,
  noPrices,
  SetModelConfiguration
} from "#gateway/wire/ModelConfiguration.ts"

export const modelConfigurationRoutes = tagged(
  {
    name: "Model configurations",
    about: "Speech and language services as one document, as current clients write them, with a mode that says which part applies."
  },
  [
    route({
      method: "get",
      path: "/api/v1/organizations/model-configurations/v2",
      name: "getModelConfiguration",
      summary: "Read what the organization has set up, as one document",
      success: ModelConfigurationWire,
      handle: ({ caller }) => ModelConfigurations.use((_) => _.get(caller.organizationId)).pipe(Effect.map(modelConfigurationWire))
    }),
    route({
      method: "put",
      path: "/api/v1/organizations/model-configurations/v2",
      name: "setModelConfiguration",
      summary: "Replace what the organization has set up",
      description: "A service that the engine does not have is kept; agents speak with the engine's own voice.",
      needs: "admin",
      body: SetModelConfiguration,
      bodySize: modelDocumentSize,
      success: ModelConfigurationWire,
      errors: ["ModelDocumentRefused", "ModelDocumentTooLarge"],
      handle: ({ body, caller }) =>
        ModelConfigurations.use((_) => _.replace(caller.organizationId, body)).pipe(Effect.map(modelConfigurationWire))
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/model-configurations/v2/defaults",
      name: "getModelConfigurationDefaults",
      summary: "Which speech and language services there are to choose from",
      success: ModelConfigurationDefaultsWire,
      handle: () => Effect.succeed(modelConfigurationDefaults)
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/model-configurations/v2/pricing",
      name: "getModelPricing",
      summary: "What calls cost by what is set up",
      success: ModelPricing,
      handle: () => Effect.succeed(noPrices)
    })
  ]
)
