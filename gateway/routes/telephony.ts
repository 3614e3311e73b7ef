/** /api/v1/organizations/telephony-*: the accounts that calls go through, and what providers there are. */
import { Effect } from "effect"
import type { Adapter } from "#core/provider/Adapter.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { Readiness } from "../Readiness.ts"
import { NotFound } from "../Refusal.ts"
import { route, tagged } from "../Route.ts"
import { TrunkList, trunkList } from "../wire/Health.ts"
import {
  createTelephonyConfig,
  newTelephonyConfigOf,
  ProviderList,
  providerWire,
  telephonyChangesOf,
  TelephonyConfigDeleted,
  TelephonyConfigList,
  telephonyConfigListItem,
  TelephonyConfigPath,
  TelephonyConfigWarnings,
  TelephonyConfigWire,
  telephonyConfigWire,
  updateTelephonyConfig,
  warningsWire
} from "../wire/Telephony.ts"

const collection = "/api/v1/organizations/telephony-configs"
const single = `${collection}/:config_id`

/** For routes whose path names the configuration. */
export const configNotFound = <E>(error: E): Exclude<E, TelephonyConfigNotFound> | NotFound =>
  error instanceof TelephonyConfigNotFound
    ? new NotFound({ detail: "Telephony configuration not found" })
    : // It is any other than the one asked for just now.
      (error as Exclude<E, TelephonyConfigNotFound>)

/** What a configuration may hold is what this engine's adapters ask for. */
export const telephonyRoutes = (adapters: ReadonlyArray<Adapter>) => {
  const providers = adapters.map(providerWire)
  return tagged("Telephony", [
    route({
      method: "post",
      path: collection,
      name: "createTelephonyConfig",
      summary: "Add a telephony configuration",
      needs: "admin",
      body: createTelephonyConfig(adapters),
      success: TelephonyConfigWire,
      errors: ["TelephonyAddressRefused", "TelephonyConfigNameTaken"],
      handle: ({ body, caller }) =>
        TelephonyConfigs.use((_) => _.create(caller.organizationId, newTelephonyConfigOf(adapters, body))).pipe(
          Effect.map(telephonyConfigWire)
        )
    }),
    route({
      method: "get",
      path: collection,
      name: "listTelephonyConfigs",
      summary: "List telephony configurations, oldest first",
      success: TelephonyConfigList,
      handle: ({ caller }) =>
        TelephonyConfigs.use((_) => _.list(caller.organizationId)).pipe(
          Effect.map((configs) => ({ configurations: configs.map(telephonyConfigListItem) }))
        )
    }),
    route({
      method: "get",
      path: single,
      name: "getTelephonyConfig",
      summary: "Read a telephony configuration",
      params: TelephonyConfigPath,
      success: TelephonyConfigWire,
      errors: ["NotFound"],
      handle: ({ caller, params }) =>
        TelephonyConfigs.use((_) => _.get(caller.organizationId, params.config_id)).pipe(
          Effect.mapError(configNotFound),
          Effect.map(telephonyConfigWire)
        )
    }),
    route({
      method: "put",
      path: single,
      name: "updateTelephonyConfig",
      summary: "Change a telephony configuration",
      description:
        "Calls that are up go on as they are; calls dialed after this go out under the new settings. With another address the secrets have to be sent anew.",
      needs: "admin",
      params: TelephonyConfigPath,
      body: updateTelephonyConfig(adapters),
      success: TelephonyConfigWire,
      errors: [
        "NotFound",
        "TelephonyConfigNameTaken",
        "TelephonyProviderFixed",
        "TelephonyAccountTaken",
        "TelephonyAddressRefused",
        "TelephonySecretMasked"
      ],
      handle: ({ body, caller, params }) =>
        TelephonyConfigs.use((_) => _.update(caller.organizationId, params.config_id, telephonyChangesOf(adapters, body))).pipe(
          Effect.mapError(configNotFound),
          Effect.map(telephonyConfigWire)
        )
    }),
    route({
      method: "post",
      path: `${single}/set-default-outbound`,
      name: "setDefaultOutbound",
      summary: "Make it the configuration that calls go through when none is named",
      needs: "admin",
      params: TelephonyConfigPath,
      success: TelephonyConfigWire,
      errors: ["NotFound"],
      handle: ({ caller, params }) =>
        TelephonyConfigs.use((_) => _.setDefault(caller.organizationId, params.config_id)).pipe(
          Effect.mapError(configNotFound),
          Effect.map(telephonyConfigWire)
        )
    }),
    route({
      method: "delete",
      path: single,
      name: "deleteTelephonyConfig",
      summary: "Delete a telephony configuration and its phone numbers",
      needs: "admin",
      params: TelephonyConfigPath,
      success: TelephonyConfigDeleted,
      errors: ["NotFound", "TelephonyConfigInUse"],
      handle: ({ caller, params }) =>
        TelephonyConfigs.use((_) => _.remove(caller.organizationId, params.config_id)).pipe(
          Effect.mapError(configNotFound),
          Effect.as({ message: "Telephony configuration deleted" })
        )
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/telephony-trunks",
      name: "listTrunks",
      summary: "Which telephony configurations are connected, and why others are not",
      description: "Those that this node has opened, as it does with the first call through them.",
      success: TrunkList,
      handle: ({ caller }) =>
        Effect.gen(function* () {
          const own = new Set((yield* TelephonyConfigs.use((_) => _.list(caller.organizationId))).map(({ id }) => id))
          const trunks = yield* Readiness.use((_) => _.trunks)
          return trunkList(trunks.filter(({ telephonyConfigurationId }) => own.has(telephonyConfigurationId)))
        })
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/telephony-config-warnings",
      name: "listTelephonyConfigWarnings",
      summary: "What is missing in telephony configurations",
      success: TelephonyConfigWarnings,
      handle: ({ caller }) => TelephonyConfigs.use((_) => _.warnings(caller.organizationId)).pipe(Effect.map(warningsWire))
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/telephony-providers/metadata",
      name: "listTelephonyProviders",
      summary: "The providers of this engine, and what their configurations ask for",
      success: ProviderList,
      handle: () => Effect.succeed({ providers })
    })
  ])
}
