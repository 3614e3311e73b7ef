/** Logs how many of a campaign's calls were withdrawn from a carrier's queue: one entry for all those that one pause withdrew. */
import { Effect, FiberMap } from "effect"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import { queuedCallsWithdrawn } from "#core/campaign/stops.ts"
import type { CampaignId } from "#core/Id.ts"

/** How far apart the calls of one pause may be: the carrier proves one after another that they never rang. */
const APART = "3 seconds"

export interface Withdrawals {
  readonly add: (id: CampaignId) => void
}

export const makeWithdrawals = Effect.gen(function* () {
  const ownership = yield* CampaignOwnership
  const counts = new Map<CampaignId, number>()
  const run = yield* FiberMap.makeRuntime<never, CampaignId>()
  const log = (id: CampaignId) =>
    Effect.suspend(() => {
      const calls = counts.get(id) ?? 0
      counts.delete(id)
      return calls === 0 ? Effect.void : ownership.log(id, queuedCallsWithdrawn(calls))
    }).pipe(
      Effect.catchCause((cause) => Effect.logWarning("what was taken out of a carrier's queue could not be logged", cause)),
      Effect.annotateLogs({ campaignId: id }),
      Effect.uninterruptible
    )
  const withdrawals: Withdrawals = {
    add: (id) => {
      counts.set(id, (counts.get(id) ?? 0) + 1)
      // Each call restarts the wait.
      run(id, Effect.andThen(Effect.sleep(APART), log(id)))
    }
  }
  return withdrawals
})
