/** Creates at the providers what configurations need but do not name: one configuration at a time, using only its own credentials. */
import { Clock, Effect, FiberSet, Layer, Semaphore } from "effect"
import { EgressPolicy } from "#core/egress/Egress.ts"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter } from "#core/provider/Adapter.ts"
import { complete, preparation } from "#core/provider/Credential.ts"
import { Registry } from "#core/provider/Registry.ts"
import { CarrierHost } from "#core/provider/Setup.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { accountOf } from "#core/telephony/TelephonyConfigs.ts"
import { TelephonyPreparations, TooManyPreparations } from "#core/telephony/TelephonyPreparations.ts"
import { TelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { type Prepared, PreparedSettings } from "#core/telephony/PreparedSettings.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Config } from "#runtime/config/config.ts"
import { AccountAllowance } from "./AccountAllowance.ts"
import { cleaned, secretsOf } from "./telephonyChecks.ts"
import { TrunkPool } from "./TrunkPool.ts"

const LONGEST = "20 seconds"
/** How often it starts over because the configuration has changed meanwhile, or because what was created is needed for the rest. */
const MOST_ROUNDS = 4

interface Preparer {
  readonly settings: TrunkSettings["Service"]
  readonly kept: PreparedSettings["Service"]
  readonly registry: Registry["Service"]
  readonly pool: TrunkPool["Service"]
  readonly policy: (typeof EgressPolicy)["Service"]
  readonly hostOf: (typeof CarrierHost)["Service"]
  readonly providerUrls: Readonly<Record<string, URL>>
  /** The configurations being prepared, with the number of waiters for each. */
  readonly busy: Map<TelephonyConfigId, { readonly turn: Semaphore.Semaphore; users: number }>
}

type Needy = TrunkSetting & { readonly adapter: Adapter & Required<Pick<Adapter, "prepare">> }

/** Undefined if it is gone, or names everything it needs itself. */
const needyOf = Effect.fnUntraced(function* ({ registry, settings }: Preparer, id: TelephonyConfigId) {
  const setting = yield* settings.find(id)
  const adapter = setting && registry.find(setting.provider)
  if (setting === undefined || adapter?.prepare === undefined) return undefined
  const isNeedy = preparation(adapter.fields, complete(adapter.fields, setting.credentials)) !== "unneeded"
  // Cast: `prepare` was checked above.
  return isNeedy ? { ...setting, adapter: adapter as Needy["adapter"] } : undefined
})

/** Unique to this configuration of this engine: two engines may share an account. */
const nameOf = (id: TelephonyConfigId, publicUrl: string | undefined): string =>
  ["Trunkline", ...(publicUrl === undefined ? [] : [new URL(publicUrl).host]), id].join(" ")

const prepared = Effect.fnUntraced(function* ({ hostOf, policy, providerUrls }: Preparer, needy: Needy) {
  const { adapter, credentials, id, organizationId, provider } = needy
  const egress = yield* policy.trunksOf(organizationId)
  const host = hostOf(id)
  const secrets = secretsOf(adapter, needy)
  const failed = (reason: string): Prepared => ({ made: {}, trouble: cleaned(reason, secrets) })
  const context = { ...host, apiOrigin: providerUrls[provider], configurationId: id, egress, name: nameOf(id, host.publicUrl) }
  return yield* Effect.scoped(adapter.prepare(credentials, context)).pipe(
    Effect.map((values): Prepared => ({ made: managedIn(adapter, values), trouble: undefined })),
    Effect.catchTag("ProviderError", ({ detail }) => Effect.succeed(failed(detail))),
    Effect.timeoutOrElse({ duration: LONGEST, orElse: () => Effect.succeed(failed("it did not answer in time")) }),
    Effect.catchDefect((defect) =>
      Effect.as(Effect.logError("a telephony configuration could not be prepared", defect), failed("the engine's log has the reason"))
    )
  )
})

/** Only what the adapter declares as managed, so that nothing entered by a person is overwritten. */
const managedIn = ({ fields }: Adapter, values: Readonly<Record<string, string>>): Prepared["made"] =>
  Object.fromEntries(Object.entries(values).filter(([name, value]) => fields[name]?.isManaged === true && typeof value === "string"))

const rounds = Effect.fnUntraced(function* (preparer: Preparer, id: TelephonyConfigId) {
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const needy = yield* needyOf(preparer, id)
    if (needy === undefined) return
    const outcome = yield* prepared(preparer, needy)
    if (outcome.trouble !== undefined)
      yield* Effect.logWarning("a telephony configuration could not be prepared", { detail: outcome.trouble })
    const isKept = yield* preparer.kept.keep(needy, outcome, (credentials) => accountOf(needy.adapter, credentials))
    const isPart = preparation(needy.adapter.fields, { ...needy.credentials, ...outcome.made }) === "missing"
    if (isKept && outcome.trouble === undefined && isPart) continue
    if (isKept) return yield* Object.keys(outcome.made).length === 0 ? Effect.void : preparer.pool.renew(id, "configuration")
  }
})

/** Waits for its turn, so that only one runs per configuration. */
const exclusive = <A>({ busy }: Preparer, id: TelephonyConfigId, work: Effect.Effect<A>): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.sync(() => {
      const entry = busy.get(id) ?? { turn: Semaphore.makeUnsafe(1), users: 0 }
      entry.users += 1
      busy.set(id, entry)
      return entry
    }),
    ({ turn }) => turn.withPermits(1)(work),
    (entry) =>
      Effect.sync(() => {
        entry.users -= 1
        if (entry.users === 0) busy.delete(id)
      })
  )

export const layer = Layer.effect(
  TelephonyPreparations,
  Effect.gen(function* () {
    const { providerUrls = {} } = yield* Config
    const preparer: Preparer = {
      settings: yield* TrunkSettings,
      kept: yield* PreparedSettings,
      registry: yield* Registry,
      pool: yield* TrunkPool,
      policy: yield* EgressPolicy,
      hostOf: yield* CarrierHost,
      providerUrls,
      busy: new Map()
    }
    const tests = yield* TelephonyTests
    const clock = yield* Clock.Clock
    const allowance = new AccountAllowance()
    const fork = yield* FiberSet.makeRuntime()
    const run = (id: TelephonyConfigId) =>
      Effect.annotateLogs(exclusive(preparer, id, rounds(preparer, id)), { telephonyConfigurationId: id })
    const inBackground = (organizationId: OrganizationId, id: TelephonyConfigId) =>
      run(id).pipe(
        Effect.catchCause((cause) => Effect.logWarning("a telephony configuration could not be prepared", cause)),
        Effect.andThen(tests.runSoon(organizationId, id)),
        Effect.ensuring(Effect.sync(() => allowance.leaveBackground(organizationId)))
      )
    return TelephonyPreparations.of({
      run: Effect.fn("TelephonyPreparations.run")(function* (organizationId, id) {
        const setting = yield* preparer.settings.find(id)
        if (setting === undefined || setting.organizationId !== organizationId) return yield* new TelephonyConfigNotFound({ id })
        const retryAfterSeconds = allowance.begin(organizationId, SteadyTime.nowOf(clock))
        if (retryAfterSeconds !== undefined) return yield* new TooManyPreparations({ retryAfterSeconds })
        yield* Effect.ensuring(
          run(id),
          Effect.sync(() => allowance.end(organizationId))
        )
      }),
      runSoon: (organizationId, id) =>
        Effect.suspend(() => {
          if (!allowance.enterBackground(organizationId)) return tests.runSoon(organizationId, id)
          return Effect.sync(() => void fork(inBackground(organizationId, id)))
        })
    })
  })
)
