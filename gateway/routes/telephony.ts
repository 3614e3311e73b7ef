/** /api/v1/organizations/telephony-*: the accounts that calls go through, and what providers there are. */
import { Effect } from "effect"
import type { Adapter } from "#core/provider/Adapter.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { NotFound } from "../Refusal.ts"
import { route, tagged } from "../Route.ts"
import {
  createTelephonyConfig,
  newTelephonyConfigOf,
  ProviderList,
  providerWire,
  TelephonyConfigList,
  telephonyConfigListItem,
  TelephonyConfigPath,
  TelephonyConfigWire,
  telephonyConfigWire
} from "../wire/Telephony.ts"

/** What a configuration may hold is what this engine's adapters ask for. */
export const telephonyRoutes = (adapters: ReadonlyArray<Adapter>) =>
  tagged("Telephony", [
    route({
      method: "post",
      path: "/api/v1/organizations/telephony-configs",
      name: "createTelephonyConfig",
      summary: "Add a telephony configuration",
      body: createTelephonyConfig(adapters),
      success: TelephonyConfigWire,
      errors: ["TelephonyConfigNameTaken"],
      handle: ({ body, caller }) =>
        TelephonyConfigs.use((_) => _.create(caller.organizationId, newTelephonyConfigOf(adapters, body))).pipe(
          Effect.map(telephonyConfigWire)
        )
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/telephony-configs",
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
      path: "/api/v1/organizations/telephony-configs/:config_id",
      name: "getTelephonyConfig",
      summary: "Read a telephony configuration",
      params: TelephonyConfigPath,
      success: TelephonyConfigWire,
      errors: ["NotFound"],
      handle: ({ caller, params }) =>
        TelephonyConfigs.use((_) => _.get(caller.organizationId, params.config_id)).pipe(
          Effect.mapBoth({
            onSuccess: telephonyConfigWire,
            onFailure: () => new NotFound({ detail: "Telephony configuration not found" })
          })
        )
    }),
    route({
      method: "get",
      path: "/api/v1/organizations/telephony-providers/metadata",
      name: "listTelephonyProviders",
      summary: "The providers of this engine, and what their configurations ask for",
      success: ProviderList,
      handle: () => Effect.succeed({ providers: adapters.map(providerWire) })
    })
  ])
