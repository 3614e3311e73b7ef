/** Tests telephony configurations: runs the adapter's checks and reports the state of the live trunk. Keeps the results in memory. */
import { Clock, Effect, FiberSet, Layer } from "effect"
import { EgressPolicy, refusesUrl, refusedWords } from "#core/egress/Egress.ts"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import { addressesIn } from "#core/provider/Credential.ts"
import { Registry } from "#core/provider/Registry.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { type TelephonyTest, TelephonyTests, TooManyTelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Config } from "#runtime/config/config.ts"
import { broken, liveCheck, notInstalled, secretsOf, tooSlow, withoutSecrets } from "./telephonyChecks.ts"
import { AccountAllowance } from "./AccountAllowance.ts"
import { TrunkPool } from "./TrunkPool.ts"

const LONGEST = "15 seconds"
const MOST_RESULTS = 10_000
/** Enough for a trunk with eight endpoints. */
const MOST_CHECKS = 100

interface Tester {
  readonly settings: TrunkSettings["Service"]
  readonly registry: Registry["Service"]
  readonly pool: TrunkPool["Service"]
  readonly policy: (typeof EgressPolicy)["Service"]
  readonly nodeName: string
  readonly providerUrls: Readonly<Record<string, URL>>
  readonly clock: Clock.Clock
  readonly allowance: AccountAllowance
  readonly results: TestResults
}

/** The latest test of each configuration, for a limited number of configurations. */
class TestResults {
  readonly #tests = new Map<TelephonyConfigId, TelephonyTest>()

  keep(id: TelephonyConfigId, test: TelephonyTest): void {
    this.#tests.delete(id)
    this.#tests.set(id, test)
    const [oldest] = this.#tests.keys()
    if (this.#tests.size > MOST_RESULTS && oldest !== undefined) this.#tests.delete(oldest)
  }
  forget(id: TelephonyConfigId): void {
    this.#tests.delete(id)
  }
  has(id: TelephonyConfigId): boolean {
    return this.#tests.has(id)
  }
  of(ids: ReadonlyArray<TelephonyConfigId>): ReadonlyMap<TelephonyConfigId, TelephonyTest> {
    return new Map(
      ids.flatMap((id) => {
        const test = this.#tests.get(id)
        return test === undefined ? [] : [[id, test] as const]
      })
    )
  }
}

const verify = Effect.fnUntraced(function* (
  { nodeName, policy, providerUrls }: Tester,
  adapter: Adapter,
  setting: TrunkSetting,
  report: (check: Check) => void
) {
  const egress = yield* policy.trunksOf(setting.organizationId)
  const refused = addressesIn(adapter.fields, setting.credentials).find(([, url]) => refusesUrl(egress, url))
  if (refused !== undefined) {
    const advice = `Correct \`${refused[0]}\`, or have the operator allow it with EGRESS_ALLOW.`
    return report({ name: "connection", result: "failed", message: `${refusedWords}.`, advice })
  }
  const context = { apiOrigin: providerUrls[setting.provider], configurationId: setting.id, egress, node: nodeName, report }
  yield* Effect.scoped(adapter.verify?.(setting.credentials, context) ?? Effect.void).pipe(
    Effect.timeoutOrElse({ duration: LONGEST, orElse: () => Effect.sync(() => report(tooSlow)) }),
    Effect.catchCause((cause) =>
      Effect.andThen(
        Effect.logError("a telephony configuration could not be tested", cause),
        Effect.sync(() => report(broken))
      )
    )
  )
})

const test = Effect.fnUntraced(function* (tester: Tester, setting: TrunkSetting) {
  const adapter = tester.registry.find(setting.provider)
  const checks: Array<Check> = []
  const secrets = secretsOf(adapter, setting)
  const report = (check: Check) => {
    if (checks.length < MOST_CHECKS) checks.push(withoutSecrets(check, secrets))
  }
  if (adapter === undefined) report(notInstalled(setting.provider))
  else yield* verify(tester, adapter, setting, report)
  const live = tester.pool.all().find(({ configurationId }) => configurationId === setting.id)
  if (live !== undefined) {
    report(liveCheck(live))
    // The user who runs the test may have just repaired the cause.
    if ([live.status(), ...live.endpoints().map(({ status }) => status)].some(({ _tag }) => _tag === "Down")) live.trunk.reconnect?.()
  }
  const finished: TelephonyTest = {
    at: tester.clock.currentTimeMillisUnsafe(),
    checks,
    passed: checks.every(({ result }) => result !== "failed")
  }
  tester.results.keep(setting.id, finished)
  return finished
})

const run = Effect.fn("TelephonyTests.run")(function* (tester: Tester, organizationId: OrganizationId, id: TelephonyConfigId) {
  const setting = yield* tester.settings.find(id)
  if (setting === undefined || setting.organizationId !== organizationId) return yield* new TelephonyConfigNotFound({ id })
  const retryAfterSeconds = tester.allowance.begin(organizationId, SteadyTime.nowOf(tester.clock))
  if (retryAfterSeconds !== undefined) return yield* new TooManyTelephonyTests({ retryAfterSeconds })
  return yield* Effect.ensuring(
    test(tester, setting),
    Effect.sync(() => tester.allowance.end(organizationId))
  )
})

const runOnceAllowed = (tester: Tester, organizationId: OrganizationId, id: TelephonyConfigId): Effect.Effect<void> =>
  run(tester, organizationId, id).pipe(
    Effect.asVoid,
    Effect.catchTags({
      TelephonyConfigNotFound: () => Effect.void,
      TooManyTelephonyTests: ({ retryAfterSeconds }) =>
        Effect.delay(
          Effect.suspend(() => (tester.results.has(id) ? Effect.void : runOnceAllowed(tester, organizationId, id))),
          retryAfterSeconds * 1000
        )
    }),
    Effect.catchCause((cause) => Effect.logWarning("a telephony configuration could not be tested", cause))
  )

export const layer = Layer.effect(
  TelephonyTests,
  Effect.gen(function* () {
    const { nodeName, providerUrls = {} } = yield* Config
    const tester: Tester = {
      settings: yield* TrunkSettings,
      registry: yield* Registry,
      pool: yield* TrunkPool,
      policy: yield* EgressPolicy,
      nodeName,
      providerUrls,
      clock: yield* Clock.Clock,
      allowance: new AccountAllowance(),
      results: new TestResults()
    }
    const { allowance, results } = tester
    const fork = yield* FiberSet.makeRuntime()
    const runSoon = (organizationId: OrganizationId, id: TelephonyConfigId) => {
      results.forget(id)
      if (!allowance.enterBackground(organizationId)) return
      const leaving = Effect.sync(() => allowance.leaveBackground(organizationId))
      fork(Effect.annotateLogs(Effect.ensuring(runOnceAllowed(tester, organizationId, id), leaving), { telephonyConfigurationId: id }))
    }
    return TelephonyTests.of({
      run: (organizationId, id) => run(tester, organizationId, id),
      runSoon: (organizationId, id) => Effect.sync(() => runSoon(organizationId, id)),
      last: (ids) => Effect.sync(() => results.of(ids))
    })
  })
)
