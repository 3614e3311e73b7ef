/** How a campaign's owner uses the breaker's window: it loads the record at the start, and has a trip confirmed by the record. */
import { Clock, Effect } from "effect"
import { BreakerWindow } from "#core/campaign/BreakerWindow.ts"
import { CampaignOwnership, type DialPlan } from "#core/campaign/CampaignOwnership.ts"
import type { CampaignId } from "#core/Id.ts"
import * as SteadyTime from "#core/SteadyTime.ts"
import { type CampaignMemory, news, over, until, type Wait } from "./CampaignMemory.ts"
import type { CampaignInbox } from "./CampaignInbox.ts"

/** Times on record differ a little from those in memory. */
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
    /** For a new stretch of running, or one that another owner began. A window that this process already has is kept. */
    begin: Effect.fnUntraced(function* (inbox: CampaignInbox, { breaker, breakerEpoch, campaignId }: DialPlan) {
      if (inbox.breakerEpoch === breakerEpoch) return
      inbox.breaker = breaker?.enabled === true ? new BreakerWindow(breaker, yield* onRecord(campaignId)) : undefined
      inbox.breakerEpoch = breakerEpoch
    }),
    /** Undefined when the breaker has not tripped, or when the record does not confirm the trip. */
    wait: Effect.fnUntraced(function* ({ inbox, plan }: CampaignMemory, now: SteadyTime.SteadyMillis): Effect.fn.Return<Wait | undefined> {
      const { breaker } = inbox
      if (breaker?.isTripped !== true) return undefined
      if (!breaker.isSettled) return news
      const { newest } = breaker
      const asOf = SteadyTime.wallOf(clock, newest) + CLOCKS_APART_MILLIS
      if (yield* ownership.judgeBreaker(plan.campaignId, asOf)) return over
      const entries = yield* onRecord(plan.campaignId)
      // More calls have ended meanwhile, so the record that was just read may be incomplete: look again.
      if (!breaker.isSettled || breaker.newest !== newest) return until(now)
      breaker.overruled(entries)
      return undefined
    })
  }
})
