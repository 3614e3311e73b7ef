/** /api/v1/user/configurations: which speech and language services the organization has set up. */
import { Effect } from "effect"
import { ModelConfigurations } from "#core/model/ModelConfigurations.ts"
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
      summary: "Which speech and language services there are, and what an agent's settings are by default",
      access: "none",
      success: UserConfigurationDefaultsWire,
      handle: () => Effect.succeed(userConfigurationDefaults)
    }),
    route({
      method: "get",
      path: "/api/v1/user/configurations/user",
      name: "getUserConfiguration",
      summary: "Read what the organization has set up",
      success: UserConfigurationWire,
      handle: ({ caller }) => ModelConfigurations.use((_) => _.get(caller.organizationId)).pipe(Effect.map(userConfigurationWire))
    }),
    route({
      method: "put",
      path: "/api/v1/user/configurations/user",
      name: "setUserConfiguration",
      summary: "Change what the organization has set up",
      needs: "admin",
      body: SetUserConfiguration,
      bodySize: modelDocumentSize,
      success: UserConfigurationWire,
      errors: ["ModelDocumentTooLarge", "ModelSecretMasked"],
      handle: ({ body, caller }) =>
        ModelConfigurations.use((_) => _.update(caller.organizationId, changesOf(body))).pipe(Effect.map(userConfigurationWire))
    }),
    route({
      method: "get",
      path: "/api/v1/user/configurations/user/validate",
      name: "validateUserConfiguration",
      summary: "Whether this engine has what the organization has set up",
      description: "Each service that is set up and not here is an entry of the 422. Keys are not tried.",
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
