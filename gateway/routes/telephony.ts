/** /api/v1/organizations/telephony-*: accounts with providers that calls go through, and the available providers. */
import { Effect } from "effect"
import type { Static } from "typebox"
import { Calls } from "#core/call/Calls.ts"
import { RequestId } from "#core/Idempotency.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { TelephonyConfigs } from "#core/telephony/TelephonyConfigs.ts"
import { TelephonyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { idempotent } from "#gateway/request/idempotency.ts"
import { Readiness } from "#gateway/ports/Readiness.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { route, tagged, type Tag } from "#gateway/request/Route.ts"
import { together } from "#gateway/request/together.ts"
import { TrunkList, trunkList } from "#gateway/wire/Health.ts"
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
} from "#gateway/wire/Telephony.ts"
import {
  callInitiated,
  callNotPlaced,
  TelephonyTested,
  testedCallOf,
  telephonyTestWire,
  TestTelephonyConfig
} from "#gateway/wire/TelephonyTest.ts"
import { TrunkOutageList, trunkOutageList } from "#gateway/wire/TrunkOutage.ts"
import { dialErrors } from "./call.ts"

const collection = "/api/v1/organizations/telephony-configs"
const single = `${collection}/:config_id`

/** For routes whose path names the configuration. */
export const configNotFound = <E>(error: E): Exclude<E, TelephonyConfigNotFound> | NotFound =>
  error instanceof TelephonyConfigNotFound
    ? new NotFound({ detail: "Telephony configuration not found" })
    : // The other branch has excluded this error.
      (error as Exclude<E, TelephonyConfigNotFound>)

const createConfig = (adapters: ReadonlyArray<Adapter>) =>
  route({
    method: "post",
    path: collection,
    name: "createTelephonyConfig",
    summary: "Add a telephony configuration",
    description:
      "What calls need at the provider and the configuration does not name is created in the background, if the provider allows that: `setup_checklist` shows it. Then it is tested: `/api/v1/organizations/telephony-trunks` shows the result.",
    needs: "admin",
    body: createTelephonyConfig(adapters),
    success: TelephonyConfigWire,
    errors: ["TelephonyAddressRefused", "TelephonyConfigNameTaken", "TelephonyFieldManaged", "TelephonySecretMasked"],
    handle: ({ body, caller }) =>
      TelephonyConfigs.use((_) => _.create(caller.organizationId, newTelephonyConfigOf(adapters, body))).pipe(
        Effect.tap(({ id }) => TelephonyPreparations.use((_) => _.runSoon(caller.organizationId, id))),
        Effect.map(telephonyConfigWire)
      )
  })

const listConfigs = route({
  method: "get",
  path: collection,
  name: "listTelephonyConfigs",
  summary: "List telephony configurations, oldest first",
  description: "Without credentials, with the number of phone numbers of each. Read one for its fields.",
  success: TelephonyConfigList,
  handle: ({ caller }) =>
    TelephonyConfigs.use((_) => _.list(caller.organizationId)).pipe(
      Effect.map((configs) => ({ configurations: configs.map(telephonyConfigListItem) }))
    )
})

const getConfig = route({
  method: "get",
  path: single,
  name: "getTelephonyConfig",
  summary: "Read a telephony configuration",
  description:
    "Secrets are shown masked, and a masked value that is sent back leaves the stored one as it is. 404 if the organization has no such configuration.",
  params: TelephonyConfigPath,
  success: TelephonyConfigWire,
  errors: ["NotFound"],
  handle: ({ caller, params }) =>
    TelephonyConfigs.use((_) => _.get(caller.organizationId, params.config_id)).pipe(
      Effect.mapError(configNotFound),
      Effect.map(telephonyConfigWire)
    )
})

const listOutages = route({
  method: "get",
  path: `${single}/outages`,
  name: "listTrunkOutages",
  summary: "List when a telephony configuration's trunk could not be reached",
  description: "The newest first, at most 200 of the last 90 days. 404 if the organization has no such configuration.",
  params: TelephonyConfigPath,
  success: TrunkOutageList,
  errors: ["NotFound"],
  handle: ({ caller, params }) =>
    TelephonyConfigs.use((_) => _.outages(caller.organizationId, params.config_id)).pipe(
      Effect.mapError(configNotFound),
      Effect.map(trunkOutageList)
    )
})

const updateConfig = (adapters: ReadonlyArray<Adapter>) =>
  route({
    method: "put",
    path: single,
    name: "updateTelephonyConfig",
    summary: "Change a telephony configuration",
    description:
      "Calls in progress continue unchanged; later calls use the new settings. A change of address requires the secrets to be sent again.",
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
      "TelephonyFieldManaged",
      "TelephonySecretMasked"
    ],
    handle: ({ body, caller, params }) =>
      TelephonyConfigs.use((_) => _.update(caller.organizationId, params.config_id, telephonyChangesOf(adapters, body))).pipe(
        Effect.mapError(configNotFound),
        Effect.tap(({ id }) =>
          body.config === null ? Effect.void : TelephonyPreparations.use((_) => _.runSoon(caller.organizationId, id))
        ),
        Effect.map(telephonyConfigWire)
      )
  })

const setDefaultOutbound = route({
  method: "post",
  path: `${single}/set-default-outbound`,
  name: "setDefaultOutbound",
  summary: "Make it the default for calls that name no configuration",
  description:
    "The one before ceases to be the default. Campaigns name theirs and are not affected. 404 if the organization has no such configuration.",
  needs: "admin",
  params: TelephonyConfigPath,
  success: TelephonyConfigWire,
  errors: ["NotFound"],
  handle: ({ caller, params }) =>
    TelephonyConfigs.use((_) => _.setDefault(caller.organizationId, params.config_id)).pipe(
      Effect.mapError(configNotFound),
      Effect.map(telephonyConfigWire)
    )
})

const prepareConfig = route({
  method: "post",
  path: `${single}/prepare`,
  name: "prepareTelephonyConfig",
  summary: "Create at the provider what calls need",
  description:
    "Needed only if that failed when the configuration was saved. Nothing that is there already is created again, changed or deleted. Takes some seconds; `setup_checklist` shows the result.",
  needs: "admin",
  params: TelephonyConfigPath,
  success: TelephonyConfigWire,
  errors: ["NotFound", "TooManyPreparations"],
  handle: ({ caller, params }) =>
    TelephonyPreparations.use((_) => _.run(caller.organizationId, params.config_id)).pipe(
      Effect.andThen(TelephonyConfigs.use((_) => _.get(caller.organizationId, params.config_id))),
      Effect.mapError(configNotFound),
      Effect.map(telephonyConfigWire)
    )
})

const testConfig = idempotent(
  route({
    method: "post",
    path: `${single}/test`,
    name: "testTelephonyConfig",
    summary: "Test a telephony configuration",
    description:
      "Connects to the provider as calls do, checks everything that calls need, and says how to fix what is missing. Takes some seconds. A call is placed only on request, after the checks and whatever their result.",
    needs: "admin",
    params: TelephonyConfigPath,
    body: TestTelephonyConfig,
    success: TelephonyTested,
    errors: [...dialErrors, "NotFound", "TestNumberMissing", "RunRefused", "RunCalled", "TooManyTelephonyTests"],
    handle: ({ body, caller, params }) =>
      Effect.gen(function* () {
        const { organizationId } = caller
        const test = yield* TelephonyTests.use((_) => _.run(organizationId, params.config_id)).pipe(Effect.mapError(configNotFound))
        const asked = testedCallOf(body, params.config_id, yield* RequestId)
        if (asked === undefined) return { ...telephonyTestWire(test), call: null }
        const call = yield* Calls.use((_) => _.test(organizationId, asked)).pipe(
          Effect.map(callInitiated),
          // The results of the checks matter all the more when the call fails.
          Effect.catchTag("CallNotPlaced", ({ reason }) => Effect.succeed(callNotPlaced(reason)))
        )
        return { ...telephonyTestWire(test), call }
      })
  })
)

const deleteConfig = route({
  method: "delete",
  path: single,
  name: "deleteTelephonyConfig",
  summary: "Delete a telephony configuration and its phone numbers",
  description: "409 while campaigns or calls use it, which `detail` tells apart: finished campaigns count as well.",
  needs: "admin",
  params: TelephonyConfigPath,
  success: TelephonyConfigDeleted,
  errors: ["NotFound", "TelephonyConfigInUse"],
  handle: ({ caller, params }) =>
    TelephonyConfigs.use((_) => _.remove(caller.organizationId, params.config_id)).pipe(
      Effect.mapError(configNotFound),
      Effect.as({ message: "Telephony configuration deleted" })
    )
})

const listTrunks = together(
  route({
    method: "get",
    path: "/api/v1/organizations/telephony-trunks",
    answeredBy: "decider",
    name: "listTrunks",
    summary: "List which telephony configurations are connected, and why others are not",
    description:
      "Covers the configurations that this node has opened, which it does for the first call through them, and those that were tested.",
    success: TrunkList,
    handle: ({ caller }) =>
      Effect.gen(function* () {
        const configs = yield* TelephonyConfigs.use((_) => _.list(caller.organizationId))
        const tests = yield* TelephonyTests.use((_) => _.last(configs.map(({ id }) => id)))
        return trunkList(configs, yield* Readiness.use((_) => _.trunks), tests)
      })
  })
)

const listWarnings = route({
  method: "get",
  path: "/api/v1/organizations/telephony-config-warnings",
  name: "listTelephonyConfigWarnings",
  summary: "List what is missing in telephony configurations",
  description:
    "How many configurations cannot verify what their carrier reports, because a key or secret is missing. Nothing is asked of the carrier: the test of a configuration does that.",
  success: TelephonyConfigWarnings,
  handle: ({ caller }) => TelephonyConfigs.use((_) => _.warnings(caller.organizationId)).pipe(Effect.map(warningsWire))
})

const listProviders = (providers: Static<typeof ProviderList>["providers"]) =>
  route({
    method: "get",
    path: "/api/v1/organizations/telephony-providers/metadata",
    name: "listTelephonyProviders",
    summary: "List the available providers and their configuration fields",
    description:
      "From this, an editor can show a form for each provider. Which providers there are is set by `ADAPTERS` at the engine's start.",
    success: ProviderList,
    handle: () => Effect.succeed({ providers })
  })

export const telephonyTag: Tag = { name: "Telephony", about: "Accounts with providers, and the numbers to call from." }

/** A configuration holds the fields that this engine's adapters declare. */
export const telephonyRoutes = (adapters: ReadonlyArray<Adapter>) =>
  tagged(telephonyTag, [
    createConfig(adapters),
    listConfigs,
    getConfig,
    listOutages,
    updateConfig(adapters),
    setDefaultOutbound,
    prepareConfig,
    testConfig,
    deleteConfig,
    listTrunks,
    listWarnings,
    listProviders(adapters.map(providerWire))
  ])
