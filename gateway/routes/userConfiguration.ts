/** /api/v1/user/configurations: which speech and language services the organization has set up. */
import { Effect } from "effect"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
import { ServiceRegistry } from "#core/model/ServiceRegistry.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { modelDocumentSize } from "#gateway/wire/ModelConfiguration.ts"
import {
  allWell,
  changesOf,
  ModelStatus,
  SetUserConfiguration,
  UserConfigurationDefaultsWire,
  userConfigurationDefaults,
  UserConfigurationWire,
  userConfigurationWire,
  ValidateQuery
} from "#gateway/wire/UserConfiguration.ts"

export const userConfigurationRoutes = tagged(
  { name: "User configurations", about: "Which speech and language services the organization has set up." },
  [
    route({
      method: "get",
      path: "/api/v1/user/configurations/defaults",
      name: "getUserConfigurationDefaults",
      summary: "List the available speech and language services, and the default settings of agents",
      description:
        "What this engine can speak, hear and think with: providers, models and their fields. Which services there are is set at the engine's start.",
      access: "none",
      success: UserConfigurationDefaultsWire,
      handle: () => Effect.map(ServiceRegistry, userConfigurationDefaults)
    }),
    route({
      method: "get",
      path: "/api/v1/user/configurations/user",
      name: "getUserConfiguration",
      summary: "Read the configured services",
      description: "What agents use that choose no services of their own. API keys of services are shown masked.",
      success: UserConfigurationWire,
      handle: ({ caller }) => ModelConfigurations.use((_) => _.get(caller.organizationId)).pipe(Effect.map(userConfigurationWire))
    }),
    route({
      method: "put",
      path: "/api/v1/user/configurations/user",
      name: "setUserConfiguration",
      summary: "Change the configured services",
      needs: "admin",
      body: SetUserConfiguration,
      bodySize: modelDocumentSize,
      success: UserConfigurationWire,
      description:
        "From the next call on, agents that do not choose their own use these. A service that the engine does not have is kept, and `warnings` names it. Services that are changed are asked whether they take their keys, for up to six seconds: what they say against one is a warning as well, and it is stored all the same.",
      errors: ["ModelDocumentRefused", "ModelDocumentTooLarge", "ModelSecretMasked"],
      handle: ({ body, caller }) =>
        ModelConfigurations.use((_) => _.update(caller.organizationId, changesOf(body))).pipe(Effect.map(userConfigurationWire))
    }),
    route({
      method: "get",
      path: "/api/v1/user/configurations/user/validate",
      name: "validateUserConfiguration",
      summary: "Check whether this engine supports the configured services",
      description: "Each configured service that the engine does not support is an entry of the 422. API keys of services are not tried.",
      query: ValidateQuery,
      success: ModelStatus,
      errors: ["ModelsMissing"],
      handle: ({ caller }) =>
        Effect.as(
          ModelConfigurations.use((_) => _.check(caller.organizationId)),
          allWell
        )
    })
  ]
)
