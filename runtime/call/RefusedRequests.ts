/**
 * Tells a campaign when a carrier's request about one of its calls is refused, because then its callees hear nothing, or nothing is known about
 * them: once in the life of the engine, since every further call has the same trouble.
 */
import { Context, Effect, FiberSet, Layer } from "effect"
import { CampaignOwnership } from "#core/campaign/CampaignOwnership.ts"
import * as Stops from "#core/campaign/stops.ts"
import type { CampaignId } from "#core/Id.ts"
import type { LiveCall } from "./LiveCall.ts"

/** Never throws. Without the layer below, nobody is told. */
export const RefusedRequests = Context.Reference<(call: Pick<LiveCall, "attempt"> | undefined, what: "callback" | "media") => void>(
  "runtime/call/RefusedRequests",
  { defaultValue: () => () => {} }
)

export const layer = Layer.effect(
  RefusedRequests,
  Effect.gen(function* () {
    const { log } = yield* CampaignOwnership
    const run = yield* FiberSet.makeRuntime()
    const told = new Set<CampaignId>()
    return (call, what) => {
      const campaignId = call?.attempt.campaign?.campaignId
      if (campaignId === undefined || told.has(campaignId)) return
      told.add(campaignId)
      run(Effect.ignoreCause(log(campaignId, Stops.carrierRefused(what))))
    }
  })
)
