/** The owner's side of the circuit breaker in memory: it begins with what is on record, and what trips in it has to be confirmed there. */
import { Clock, Effect } from "effect"
import { BreakerWindow } from "#core/campaign/BreakerWindow.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type CampaignMemory, news, over, until, type Wait } from "./CampaignMemory.ts"
import type { Desk } from "./Desk.ts"

/** The record's times are a little later or earlier than ours. */
const CLOCKS_APART_MILLIS = 1000

export const makeBreakerWatch = Effect.gen(function* () {
  const ownership = yield* CampaignOwnership
  const clock = yield* Clock.Clock

  const onRecord = (id: CampaignId) =>
    Effect.map(
      Effect.suspend(() => ownership.breakerEntries(id, clock.currentTimeMillisUnsafe())),
      (entries) => entries.map((entry) => ({ ...entry, at: SteadyTime.steadyOf(clock, entry.at) }))
    )

  return {
    /** A stretch of running begins, or somebody else owned the campaign in it. What this process knows of it already it goes on with. */
    begin: Effect.fnUntraced(function* (desk: Desk, { breaker, breakerEpoch, campaignId }: DialPlan) {
      if (desk.breakerEpoch === breakerEpoch) return
      desk.breaker = breaker?.enabled === true ? new BreakerWindow(breaker, yield* onRecord(campaignId)) : undefined
      desk.breakerEpoch = breakerEpoch
    }),
    /** Undefined when the breaker has not tripped, or when the record says that it has not. */
    wait: Effect.fnUntraced(function* ({ desk, plan }: CampaignMemory, now: SteadyTime.SteadyMillis): Effect.fn.Return<Wait | undefined> {
      const { breaker } = desk
      if (breaker?.isTripped !== true) return undefined
      if (!breaker.isSettled) return news
      const { newest } = breaker
      const asOf = SteadyTime.wallOf(clock, newest) + CLOCKS_APART_MILLIS
      if (yield* ownership.judgeBreaker(plan.campaignId, asOf)) return over
      const entries = yield* onRecord(plan.campaignId)
      // More calls have ended meanwhile, and may be recorded or not: once more, from the beginning.
      if (!breaker.isSettled || breaker.newest !== newest) return until(now)
      breaker.overruled(entries)
      return undefined
    })
  }
})
