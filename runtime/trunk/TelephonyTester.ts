/** Tries telephony configurations out: what the adapter finds, and how the live trunk is. What came of it is kept in memory. */
import { Clock, Effect, FiberSet, Layer } from "effect"
import { EgressPolicy, refusesUrl, refusedWords } from "#core/egress/Egress.ts"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { Budgets } from "#core/organization/Budgets.ts"
import type { Adapter, Check } from "#core/provider/Adapter.ts"
import { addressesIn } from "#core/provider/Credential.ts"
import { Registry } from "#core/provider/Registry.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { type TelephonyTest, TelephonyTests, TooManyTelephonyTests } from "#core/telephony/TelephonyTests.ts"
import { type TrunkSetting, TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { Config } from "#runtime/config/config.ts"
import { type LiveTrunk, TrunkPool, whyDown } from "./TrunkPool.ts"

const LONGEST = "15 seconds"
/** For each organization: every test connects to an address that it chose. */
const allowance = { atOnce: 6, everyMillis: 10_000 }
const AT_ONCE = 2
const BUSY_SECONDS = 5
/** Tests in the background, those under way included, of one organization. */
const MOST_WAITING = 20
/** Budgets and results that are kept. */
const MOST = 10_000
/** Of eight endpoints. */
const MOST_CHECKS = 100
const MOST_CHARACTERS = 500
/** Shorter ones are parts of other words. */
const SHORTEST_SECRET = 4

export const layer = Layer.effect(
  TelephonyTests,
  Effect.gen(function* () {
    const settings = yield* TrunkSettings
    const registry = yield* Registry
    const pool = yield* TrunkPool
    const policy = yield* EgressPolicy
    const { nodeName } = yield* Config
    const clock = yield* Clock.Clock
    const fork = yield* FiberSet.makeRuntime()
    const budgets = new Budgets(allowance, MOST)
    const underWay = new Map<OrganizationId, number>()
    /** In the background. */
    const waiting = new Map<OrganizationId, number>()
    const results = new Map<TelephonyConfigId, TelephonyTest>()

    /** Undefined when the test may begin; then it is counted. */
    const refusal = (organizationId: OrganizationId): TooManyTelephonyTests | undefined => {
      const now = SteadyTime.nowOf(clock)
      const key = String(organizationId)
      const waitMillis = budgets.waitMillis(key, now)
      const running = underWay.get(organizationId) ?? 0
      if (waitMillis > 0) return new TooManyTelephonyTests({ retryAfterSeconds: Math.ceil(waitMillis / 1000) })
      if (running >= AT_ONCE) return new TooManyTelephonyTests({ retryAfterSeconds: BUSY_SECONDS })
      budgets.spend(key, now)
      underWay.set(organizationId, running + 1)
      return undefined
    }
    const done = (organizationId: OrganizationId) => {
      const running = (underWay.get(organizationId) ?? 1) - 1
      if (running === 0) underWay.delete(organizationId)
      else underWay.set(organizationId, running)
    }
    const keep = (id: TelephonyConfigId, test: TelephonyTest) => {
      results.delete(id)
      results.set(id, test)
      const [oldest] = results.keys()
      if (results.size > MOST && oldest !== undefined) results.delete(oldest)
    }

    const verify = Effect.fnUntraced(function* (adapter: Adapter, setting: TrunkSetting, report: (check: Check) => void) {
      const egress = yield* policy.trunksOf(setting.organizationId)
      const refused = addressesIn(adapter.fields, setting.credentials).find(([, url]) => refusesUrl(egress, url))
      if (refused !== undefined) {
        const advice = `Correct \`${refused[0]}\`, or have the operator allow it with EGRESS_ALLOW.`
        return report({ name: "connection", result: "failed", message: `${refusedWords}.`, advice })
      }
      const context = { configurationId: setting.id, egress, node: nodeName, report }
      yield* Effect.scoped(adapter.verify?.(setting.credentials, context) ?? Effect.void).pipe(
        Effect.timeoutOrElse({ duration: LONGEST, orElse: () => Effect.sync(() => report(tooSlow)) }),
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logError("a telephony configuration could not be tried", cause),
            Effect.sync(() => report(broken))
          )
        )
      )
    })

    const tried = Effect.fnUntraced(function* (setting: TrunkSetting) {
      const adapter = registry.find(setting.provider)
      const checks: Array<Check> = []
      const secrets = secretsOf(adapter, setting)
      const report = (check: Check) => {
        if (checks.length < MOST_CHECKS) checks.push(withoutSecrets(check, secrets))
      }
      if (adapter === undefined) report(notInstalled(setting.provider))
      else yield* verify(adapter, setting, report)
      const live = pool.all().find(({ configurationId }) => configurationId === setting.id)
      if (live !== undefined) {
        report(liveCheck(live))
        // Whoever tests it may just have repaired it.
        if ([live.status(), ...live.endpoints().map(({ status }) => status)].some(({ _tag }) => _tag === "Down")) live.trunk.reconnect?.()
      }
      const test = { at: clock.currentTimeMillisUnsafe(), checks, passed: checks.every(({ result }) => result !== "failed") }
      keep(setting.id, test)
      return test
    })

    const run = Effect.fn("TelephonyTests.run")(function* (organizationId: OrganizationId, id: TelephonyConfigId) {
      const setting = yield* settings.find(id)
      if (setting === undefined || setting.organizationId !== organizationId) return yield* new TelephonyConfigNotFound({ id })
      const tooMany = refusal(organizationId)
      if (tooMany !== undefined) return yield* tooMany
      return yield* Effect.ensuring(
        tried(setting),
        Effect.sync(() => done(organizationId))
      )
    })

    const runOnceAllowed = (organizationId: OrganizationId, id: TelephonyConfigId): Effect.Effect<void> =>
      run(organizationId, id).pipe(
        Effect.asVoid,
        Effect.catchTags({
          TelephonyConfigNotFound: () => Effect.void,
          TooManyTelephonyTests: ({ retryAfterSeconds }) =>
            Effect.delay(
              Effect.suspend(() => (results.has(id) ? Effect.void : runOnceAllowed(organizationId, id))),
              retryAfterSeconds * 1000
            )
        }),
        Effect.catchCause((cause) => Effect.logWarning("a telephony configuration could not be tried", cause))
      )
    const notWaiting = (organizationId: OrganizationId) =>
      Effect.sync(() => {
        const others = (waiting.get(organizationId) ?? 1) - 1
        if (others === 0) waiting.delete(organizationId)
        else waiting.set(organizationId, others)
      })

    return TelephonyTests.of({
      run,
      runSoon: (organizationId, id) =>
        Effect.sync(() => {
          results.delete(id)
          const others = waiting.get(organizationId) ?? 0
          if (others >= MOST_WAITING) return
          waiting.set(organizationId, others + 1)
          fork(
            Effect.annotateLogs(Effect.ensuring(runOnceAllowed(organizationId, id), notWaiting(organizationId)), {
              telephonyConfigurationId: id
            })
          )
        }),
      last: (ids) =>
        Effect.sync(
          () =>
            new Map(
              ids.flatMap((id) => {
                const test = results.get(id)
                return test === undefined ? [] : [[id, test] as const]
              })
            )
        )
    })
  })
)

const tooSlow: Check = {
  name: "time",
  result: "failed",
  message: "The provider did not answer everything in time.",
  advice: "See whether it is overloaded, and whether packets are lost on the way to it."
}
const broken: Check = {
  name: "engine",
  result: "failed",
  message: "The engine could not try it.",
  advice: "The engine's log has the reason."
}
const notInstalled = (provider: string): Check => ({
  name: "provider",
  result: "failed",
  message: `The telephony provider '${provider}' is not installed.`,
  advice: "Install its adapter and name it in ADAPTERS."
})

const liveCheck = (live: LiveTrunk): Check => {
  const reason = whyDown(live)
  if (reason !== undefined)
    return {
      name: "trunk",
      result: live.status()._tag === "Connecting" ? "warning" : "failed",
      message: `The engine's own connection is down: ${reason}`,
      advice: "It is being tried again now; ask again in some seconds."
    }
  const trouble = live.trouble()
  return trouble === undefined
    ? { name: "trunk", result: "passed", message: "The engine is connected and takes calls." }
    : {
        name: "trunk",
        result: "warning",
        message: `The engine is connected, but calls fail: ${trouble.detail}`,
        advice: "One call at a time tries it."
      }
}

/** What a provider says may repeat what it was told. */
const secretsOf = (adapter: Adapter | undefined, { credentials }: TrunkSetting): ReadonlyArray<string> =>
  Object.entries(credentials).flatMap(([name, value]) =>
    adapter?.fields[name]?.sensitive !== false && typeof value === "string" && value.length >= SHORTEST_SECRET ? [value] : []
  )
const withoutSecrets = (check: Check, secrets: ReadonlyArray<string>): Check => {
  const clean = (text: string) => secrets.reduce((said, secret) => said.replaceAll(secret, "*****"), text).slice(0, MOST_CHARACTERS)
  return { ...check, message: clean(check.message), ...(check.advice === undefined ? {} : { advice: clean(check.advice) }) }
}
