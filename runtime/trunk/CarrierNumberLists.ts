/**
 * Requests an account's numbers through the trunk of its configuration, so that these requests and the calls together stay within the provider's
 * limits.
 */
import { Clock, Effect, Layer } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import { Registry } from "#core/provider/Registry.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import {
  CarrierNumbers,
  type CarrierNumbersError,
  CarrierNumbersFailed,
  CarrierNumbersUnsupported,
  TooManyNumberLists
} from "#core/telephony/CarrierNumbers.ts"
import { isOwnNumber } from "#core/telephony/E164.ts"
import { TelephonyConfigNotFound } from "#core/telephony/TelephonyConfig.ts"
import { TrunkSettings } from "#core/telephony/TrunkSettings.ts"
import { AccountAllowance } from "./AccountAllowance.ts"
import { cleaned, secretsOf } from "./telephonyChecks.ts"
import { type LiveTrunk, TrunkPool } from "./TrunkPool.ts"

/** For all pages together. */
const LONGEST = "30 seconds"
const RECENT_MILLIS = 60_000

interface Kept {
  readonly at: SteadyTime.SteadyMillis
  readonly numbers: ReadonlyArray<string>
}

export const layer = Layer.effect(
  CarrierNumbers,
  Effect.gen(function* () {
    const pool = yield* TrunkPool
    const settings = yield* TrunkSettings
    const registry = yield* Registry
    const clock = yield* Clock.Clock
    const allowance = new AccountAllowance()
    /** Forgotten with the session, so a list never belongs to other credentials. */
    const lists = new WeakMap<LiveTrunk, Kept>()

    const limited = <A, E>(organizationId: OrganizationId, request: Effect.Effect<A, E>) =>
      Effect.suspend((): Effect.Effect<A, E | TooManyNumberLists> => {
        const retryAfterSeconds = allowance.begin(organizationId, SteadyTime.nowOf(clock))
        if (retryAfterSeconds !== undefined) return Effect.fail(new TooManyNumberLists({ retryAfterSeconds }))
        return Effect.ensuring(
          request,
          Effect.sync(() => allowance.end(organizationId))
        )
      })

    const list = Effect.fnUntraced(function* (organizationId: OrganizationId, id: TelephonyConfigId, age: "present" | "recent") {
      const setting = yield* settings.find(id)
      if (setting === undefined || setting.organizationId !== organizationId) return yield* new TelephonyConfigNotFound({ id })
      const adapter = registry.find(setting.provider)
      const provider = adapter?.manifest.displayName ?? setting.provider
      const live = yield* pool.get(id)
      const request = live?.trunk.numbers
      if (live === undefined || request === undefined) return yield* new CarrierNumbersUnsupported({ provider })
      const kept = lists.get(live)
      if (age === "recent" && kept !== undefined && SteadyTime.nowOf(clock) - kept.at < RECENT_MILLIS) return kept.numbers
      const secrets = secretsOf(adapter, setting)
      const failed = (reason: string) => new CarrierNumbersFailed({ provider, reason: cleaned(reason, secrets) })
      const answered = request.pipe(
        Effect.timeoutOrElse({ duration: LONGEST, orElse: () => Effect.fail(failed("it did not answer in time")) }),
        Effect.mapError((error) => (error._tag === "ProviderError" ? failed(error.detail) : error)),
        Effect.catchDefect((defect) =>
          Effect.andThen(
            Effect.logError("an adapter could not list numbers", defect),
            Effect.fail(failed("the engine's log has the reason"))
          )
        )
      )
      const numbers = [...new Set(yield* limited(organizationId, answered))].filter(isOwnNumber).sort()
      lists.set(live, { at: SteadyTime.nowOf(clock), numbers })
      return numbers
    })
    return CarrierNumbers.of({
      list: (organizationId, id, age): Effect.Effect<ReadonlyArray<string>, CarrierNumbersError> =>
        Effect.annotateLogs(list(organizationId, id, age), { telephonyConfigurationId: id })
    })
  })
)
