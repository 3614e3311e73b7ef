/** The telephony configurations of an organization, and the default for calls that name none. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { EgressPolicy, refusesUrl } from "#core/egress/Egress.ts"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import {
  addressesIn,
  complete,
  effective,
  mask,
  masked,
  maskedSecret,
  preparation,
  strayingSecret,
  unmasked,
  withManaged
} from "#core/provider/Credential.ts"
import { blockedBy, CarrierHost, type SetupHost, type SetupStep } from "#core/provider/Setup.ts"
import { Registry } from "#core/provider/Registry.ts"
import { Sealer } from "#core/Sealer.ts"
import { refusedAs } from "#core/uniqueness.ts"
import { extensionsIn } from "./Extensions.ts"
import { type Outage, pastOutages } from "./pastOutages.ts"
import {
  TelephonyAccountTaken,
  TelephonyAddressRefused,
  type TelephonyConfig,
  TelephonyConfigInUse,
  TelephonyConfigNameTaken,
  TelephonyConfigNotFound,
  TelephonyFieldManaged,
  TelephonyNotConfigured,
  TelephonyProviderFixed,
  TelephonySecretMasked
} from "./TelephonyConfig.ts"
import * as store from "./TelephonyConfigStore.ts"
import { TrunkSignals } from "./TrunkSignals.ts"

/** Credentials that were validated against the adapter's fields, with all fields present. */
export interface ProviderCredentials {
  readonly provider: string
  readonly credentials: Readonly<Record<string, unknown>>
}

export interface NewTelephonyConfig extends ProviderCredentials {
  readonly name: string
  readonly isDefaultOutbound: boolean
  readonly maxConcurrentCalls?: number | undefined
}

/** Omitted fields stay unchanged. */
export interface TelephonyConfigChanges {
  readonly name?: string | undefined
  /** All fields. A secret sent as its mask stays unchanged. */
  readonly config?: ProviderCredentials | undefined
  /** Null: no limit. */
  readonly maxConcurrentCalls?: number | null | undefined
}

/** How many configurations lack the key that verifies their provider's callbacks. */
export interface TelephonyWarnings {
  readonly telnyxKeys: number
  readonly vonageSecrets: number
}

export class TelephonyConfigs extends Context.Service<
  TelephonyConfigs,
  {
    /** A new default replaces the previous one. */
    readonly create: (
      organizationId: OrganizationId,
      config: NewTelephonyConfig
    ) => Effect.Effect<TelephonyConfig, TelephonyAddressRefused | TelephonyConfigNameTaken | TelephonyFieldManaged | TelephonySecretMasked>
    /** Oldest first. */
    readonly list: (organizationId: OrganizationId) => Effect.Effect<ReadonlyArray<TelephonyConfig>>
    readonly get: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<TelephonyConfig, TelephonyConfigNotFound>
    /** When its trunk could not be reached, newest first. */
    readonly outages: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<ReadonlyArray<Outage>, TelephonyConfigNotFound>
    /**
     * Finds the named configuration; if none is named, the default or else the only one. Inside a transaction, it cannot be deleted before
     * that ends.
     */
    readonly resolve: (
      organizationId: OrganizationId,
      id: TelephonyConfigId | undefined
    ) => Effect.Effect<TelephonyConfig, TelephonyConfigNotFound | TelephonyNotConfigured>
    /** Later calls use the new settings; live calls continue. */
    readonly update: (
      organizationId: OrganizationId,
      id: TelephonyConfigId,
      changes: TelephonyConfigChanges
    ) => Effect.Effect<
      TelephonyConfig,
      | TelephonyAccountTaken
      | TelephonyAddressRefused
      | TelephonyConfigNameTaken
      | TelephonyConfigNotFound
      | TelephonyFieldManaged
      | TelephonyProviderFixed
      | TelephonySecretMasked
    >
    readonly setDefault: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<TelephonyConfig, TelephonyConfigNotFound>
    /** Also removes its phone numbers. */
    readonly remove: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<void, TelephonyConfigNotFound | TelephonyConfigInUse>
    readonly warnings: (organizationId: OrganizationId) => Effect.Effect<TelephonyWarnings>
  }
>()("core/telephony/TelephonyConfigs") {
  static readonly layer = Layer.effect(
    TelephonyConfigs,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealing = Effect.provideService(Sealer, yield* Sealer)
      const registry = yield* Registry
      const signals = yield* TrunkSignals
      const policy = yield* EgressPolicy
      const hostOf = yield* CarrierHost
      /** Checks IP addresses only; host names are checked when they are connected to. */
      const reachable = Effect.fnUntraced(function* (organizationId: OrganizationId, { credentials, provider }: ProviderCredentials) {
        const egress = yield* policy.trunksOf(organizationId)
        const refused = addressesIn(registry.find(provider)?.fields ?? {}, credentials).find(([, url]) => refusesUrl(egress, url))
        if (refused !== undefined) return yield* new TelephonyAddressRefused({ provider, field: refused[0] })
      })
      const shown = (row: store.TelephonyConfigRow): TelephonyConfig => configOf(registry.find(row.provider), row, hostOf(row.id))
      const found = (id: TelephonyConfigId) => (row: store.TelephonyConfigRow | undefined) =>
        row === undefined ? Effect.fail(new TelephonyConfigNotFound({ id })) : Effect.succeed(shown(row))

      return TelephonyConfigs.of({
        create: Effect.fn("TelephonyConfigs.create")(function* (organizationId, config) {
          yield* reachable(organizationId, config)
          const field = maskedSecret(registry.find(config.provider)?.fields ?? {}, config.credentials)
          if (field !== undefined) return yield* new TelephonySecretMasked({ field })
          const managed = withManaged(registry.find(config.provider)?.fields ?? {}, config.credentials, {})
          if (typeof managed === "string") return yield* new TelephonyFieldManaged({ provider: config.provider, field: managed })
          return shown(yield* sealing(create(sql, organizationId, { ...config, credentials: managed })))
        }),
        list: Effect.fn("TelephonyConfigs.list")((organizationId) =>
          sealing(Effect.map(Effect.orDie(store.list(sql, organizationId)), (rows) => rows.map(shown)))
        ),
        get: Effect.fn("TelephonyConfigs.get")((organizationId, id) =>
          sealing(Effect.flatMap(Effect.orDie(store.find(sql, organizationId, id)), found(id)))
        ),
        outages: Effect.fn("TelephonyConfigs.outages")(function* (organizationId, id) {
          if ((yield* sealing(Effect.orDie(store.find(sql, organizationId, id)))) === undefined)
            return yield* new TelephonyConfigNotFound({ id })
          return yield* pastOutages(sql, id)
        }),
        resolve: Effect.fn("TelephonyConfigs.resolve")(function* (organizationId, id) {
          if (id !== undefined) return yield* sealing(Effect.flatMap(Effect.orDie(store.hold(sql, organizationId, id)), found(id)))
          const row = yield* sealing(Effect.orDie(store.holdDefault(sql, organizationId)))
          return row === undefined ? yield* new TelephonyNotConfigured() : shown(row)
        }),
        update: Effect.fn("TelephonyConfigs.update")(function* (organizationId, id, changes) {
          if (changes.config !== undefined) yield* reachable(organizationId, changes.config)
          // Uninterruptible: if the client disconnects, the trunk must still learn of the new settings.
          const changed = Effect.tap(sealing(update(sql, registry, organizationId, id, changes)), () => signals.configurationChanged(id))
          return shown(yield* Effect.uninterruptible(changed))
        }),
        setDefault: Effect.fn("TelephonyConfigs.setDefault")((organizationId, id) =>
          sealing(Effect.flatMap(setDefault(sql, organizationId, id), found(id)))
        ),
        remove: Effect.fn("TelephonyConfigs.remove")((organizationId, id) =>
          Effect.uninterruptible(Effect.andThen(remove(sql, organizationId, id), signals.configurationChanged(id)))
        ),
        warnings: Effect.fn("TelephonyConfigs.warnings")((organizationId) =>
          sealing(Effect.map(Effect.orDie(store.list(sql, organizationId)), warningsOf))
        )
      })
    })
  )
}

type Sql = SqlClient.SqlClient

const nameTaken = (name: string) => refusedAs({ telephony_configurations_name: () => new TelephonyConfigNameTaken({ name }) })

const create = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, config: NewTelephonyConfig) {
    if (config.isDefaultOutbound) {
      yield* store.lockDefault(sql, organizationId)
      yield* store.dropDefault(sql, organizationId)
    }
    const [row] = yield* store.insert(sql, { ...config, organizationId, maxConcurrentCalls: config.maxConcurrentCalls })
    return row ?? (yield* Effect.die("An inserted telephony configuration was not returned"))
  },
  (create, sql, _, { name }) => sql.withTransaction(create).pipe(nameTaken(name), Effect.catchTag("SqlError", Effect.die))
)

const update = Effect.fnUntraced(
  function* (sql: Sql, registry: Registry["Service"], organizationId: OrganizationId, id: TelephonyConfigId, to: TelephonyConfigChanges) {
    const before = yield* store.lock(sql, organizationId, id)
    if (before === undefined) return yield* new TelephonyConfigNotFound({ id })
    if (to.config !== undefined && to.config.provider !== before.provider) return yield* new TelephonyProviderFixed()
    const adapter = registry.find(before.provider)
    const stored = complete(adapter?.fields ?? {}, before.credentials)
    const straying = adapter && to.config && strayingSecret(adapter.fields, to.config.credentials, stored)
    if (straying !== undefined) return yield* new TelephonySecretMasked({ field: straying })
    const credentials = to.config && adapter && withManaged(adapter.fields, unmasked(adapter.fields, to.config.credentials, stored), stored)
    if (typeof credentials === "string") return yield* new TelephonyFieldManaged({ provider: before.provider, field: credentials })
    const foreign = credentials && maskedSecret(adapter?.fields ?? {}, credentials)
    if (foreign !== undefined) return yield* new TelephonySecretMasked({ field: foreign })
    const { maxConcurrentCalls, name } = to
    const row = yield* store.update(sql, organizationId, id, { credentials, maxConcurrentCalls, name })
    if (row === undefined) return yield* Effect.die("A locked telephony configuration is gone")
    yield* store
      .setAccount(sql, organizationId, id, accountOf(adapter, row.credentials))
      .pipe(refusedAs({ phone_numbers_account: () => new TelephonyAccountTaken() }))
    return row
  },
  (update, sql, _, __, ___, { name }) => sql.withTransaction(update).pipe(nameTaken(name ?? ""), Effect.catchTag("SqlError", Effect.die))
)

const setDefault = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) {
    yield* store.lockDefault(sql, organizationId)
    if ((yield* store.lock(sql, organizationId, id)) === undefined) return undefined
    yield* store.dropDefault(sql, organizationId)
    return yield* store.setDefault(sql, organizationId, id)
  },
  (setDefault, sql) => Effect.orDie(sql.withTransaction(setDefault))
)

const remove = Effect.fnUntraced(
  function* (sql: Sql, organizationId: OrganizationId, id: TelephonyConfigId) {
    if (!(yield* store.lockForDeletion(sql, organizationId, id))) return yield* new TelephonyConfigNotFound({ id })
    const users = yield* store.users(sql, organizationId, id)
    if (users?.campaigns === true) return yield* new TelephonyConfigInUse({ id, by: "campaigns" })
    if (users?.calls === true) return yield* new TelephonyConfigInUse({ id, by: "calls" })
    yield* store.remove(sql, organizationId, id)
  },
  (remove, sql) => Effect.catchTag(sql.withTransaction(remove), "SqlError", Effect.die)
)

/** The account that a configuration's numbers belong to, if its provider identifies inbound calls by account. */
export const accountOf = (adapter: Adapter | undefined, credentials: Readonly<Record<string, unknown>>): string | undefined => {
  const account = adapter && effective(adapter.fields, credentials)[adapter.manifest.accountField ?? ""]
  return typeof account === "string" && account !== "" ? account : undefined
}

const warningsOf = (rows: ReadonlyArray<store.TelephonyConfigRow>): TelephonyWarnings => {
  const lacking = (provider: string, field: string) =>
    rows.filter((row) => row.provider === provider && ["", undefined, null].some((nothing) => row.credentials[field] === nothing)).length
  return { telnyxKeys: lacking("telnyx", "webhook_public_key"), vonageSecrets: lacking("vonage", "signature_secret") }
}

const configOf = (adapter: Adapter | undefined, row: store.TelephonyConfigRow, host: SetupHost): TelephonyConfig => ({
  ...row,
  maxConcurrentCalls: row.maxConcurrentCalls ?? undefined,
  ...readinessOf(adapter, row, host),
  extensions: extensionsIn(row.credentials, adapter?.manifest.extensionsField),
  credentials: maskedOf(adapter, row.credentials)
})

const readinessOf = (adapter: Adapter | undefined, row: store.TelephonyConfigRow, host: SetupHost) => {
  if (adapter === undefined) return { outboundBlockedReason: `The telephony provider '${row.provider}' is not installed.`, setup: [] }
  const setup = [...preparedSteps(adapter, row), ...(adapter.setup?.(row.credentials, host) ?? []), ...callerIdSteps(adapter, row)]
  return { outboundBlockedReason: blockedBy(setup), setup }
}

/** The step for what the engine creates at the provider. */
const preparedSteps = (
  { fields, manifest: { displayName } }: Adapter,
  { credentials, preparationTrouble }: store.TelephonyConfigRow
): ReadonlyArray<SetupStep> => {
  const standing = preparation(fields, complete(fields, credentials))
  if (standing === "unneeded") return []
  const trouble = preparationTrouble === null ? "has not been created yet" : `could not be created: ${preparationTrouble}`
  return [
    {
      blocksOutbound: standing === "missing",
      description:
        standing === "made" && preparationTrouble === null
          ? `The engine has created at ${displayName} what calls need`
          : `What calls need at ${displayName} ${trouble}. Ask for it again with /prepare`,
      isComplete: standing === "made" && preparationTrouble === null,
      key: "prepared",
      title: `Set up at ${displayName}`
    }
  ]
}

const callerIdSteps = (
  { manifest: { displayName, needsCallerId } }: Adapter,
  { phoneNumberCount }: store.TelephonyConfigRow
): ReadonlyArray<SetupStep> =>
  needsCallerId === true
    ? [
        {
          blocksOutbound: true,
          description: `Outbound calls need a number to dial from. Add at least one number from your ${displayName} account under Phone numbers below.`,
          isComplete: phoneNumberCount > 0,
          key: "phone_number",
          title: "Caller ID"
        }
      ]
    : []

/** Without its adapter, it is not known which fields are sensitive, so every text is masked. */
const maskedOf = (adapter: Adapter | undefined, credentials: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => {
  if (adapter !== undefined) return masked(adapter.fields, credentials)
  return Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, typeof value === "string" ? mask(value) : value]))
}
