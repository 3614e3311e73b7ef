/** /api/v1/organizations/model-configurations: the configuration of `/user/configurations/user` as one document. */
import { Effect } from "effect"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
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
      summary: "Read the configured services as one document",
      description:
        "What agents use that choose no services of their own, in the second version of the existing product's format. API keys of services are shown masked.",
      success: ModelConfigurationWire,
      handle: ({ caller }) => ModelConfigurations.use((_) => _.get(caller.organizationId)).pipe(Effect.map(modelConfigurationWire))
    }),
    route({
      method: "put",
      path: "/api/v1/organizations/model-configurations/v2",
      name: "setModelConfiguration",
      summary: "Replace the configured services",
      description:
        "From the next call on, agents that do not choose their own use these. A service that the engine does not have is kept, and `warnings` names it. Services are asked whether they take their keys, for up to six seconds: what they say against one is a warning as well, and it is stored all the same.",
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
      summary: "List the available speech and language services",
      description: "In the second version of the existing product's format. Which services there are is set at the engine's start.",
      success: ModelConfigurationDefaultsWire,
      handle: () => Effect.map(ServiceRegistry, modelConfigurationDefaults)
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/model-configurations/v2/pricing",
      name: "getModelPricing",
      summary: "Read what calls cost with the configured services",
      description: "Always empty: this engine charges nothing. What services charge is in `/organizations/service-prices`.",
      success: ModelPricing,
      handle: () => Effect.succeed(noPrices)
    })
  ]
)
