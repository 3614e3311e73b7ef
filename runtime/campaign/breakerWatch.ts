/**
 * How a campaign's owner uses the breaker's window: it loads recorded entries at the start, and a trip takes effect only if the record confirms
 * it.
 */
import { Clock, Effect } from "effect"
import { BreakerWindow } from "#core/campaign/BreakerWindow.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import type { CampaignMemory } from "./CampaignMemory.ts"
import type { CampaignInbox } from "./CampaignInbox.ts"

/** Recorded times differ slightly from those in memory. */
const CLOCKS_APART_MILLIS = 1000

export const makeBreakerWatch = Effect.gen(function* () {
  const ownership = yield* CampaignOwnership
  const clock = yield* Clock.Clock

  const onRecord = (id: CampaignId) =>
    Effect.map(
      Effect.suspend(() => ownership.breakerEntries(id, clock.currentTimeMillisUnsafe())),
      (entries) => entries.map((entry) => ({ ...entry, at: SteadyTime.steadyPast(clock, entry.at) }))
    )

  return {
    /** To be called with each plan that is read. The window is kept until the breaker epoch changes. */
    begin: Effect.fnUntraced(function* (inbox: CampaignInbox, { breaker, breakerEpoch, campaignId }: DialPlan) {
      if (inbox.breakerEpoch === breakerEpoch) return
      inbox.breaker = breaker?.enabled === true ? new BreakerWindow(breaker, yield* onRecord(campaignId)) : undefined
      inbox.breakerEpoch = breakerEpoch
    }),
    /** True if the record confirms the trip; the campaign is then paused. Otherwise the window continues with the recorded entries. */
    judge: Effect.fnUntraced(function* ({ inbox: { breaker }, plan }: CampaignMemory) {
      if (breaker === undefined) return false
      const { newest } = breaker
      const asOf = SteadyTime.wallOf(clock, newest) + CLOCKS_APART_MILLIS
      if (yield* ownership.judgeBreaker(plan.campaignId, asOf)) return true
      const entries = yield* onRecord(plan.campaignId)
      // If more calls have ended meanwhile, the record just read may be incomplete: the next turn judges again.
      if (breaker.isSettled && breaker.newest === newest) breaker.overruled(entries)
      return false
    })
  }
})

export type BreakerWatch = Effect.Success<typeof makeBreakerWatch>
