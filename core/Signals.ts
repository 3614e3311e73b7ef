/**
 * Port: tell whoever runs a campaign, on whatever node, to look at its row again. A signal carries nothing and may be lost; who missed
 * one finds out at its next reconcile.
 */
import { Context, type Effect, Schema } from "effect"
import type { CampaignId } from "./Id.ts"

/** The row says that nothing may be dialed any more, and it is not known yet whether whoever dials has heard: ask again. */
export class StopUnconfirmed extends Schema.TaggedError<StopUnconfirmed>()("StopUnconfirmed", { retryAfterSeconds: Schema.Int }) {}

export class Signals extends Context.Service<
  Signals,
  {
    /** The campaign may dial from now on: somebody has to own it. The same `occasion` (a dial epoch, say) is heard once. */
    readonly campaignRunning: (id: CampaignId, occasion: string) => Effect.Effect<void>
    /**
     * The campaign's row says that it may not dial any more, or by other settings only. Returns when no node can send a request under an
     * older permit.
     */
    readonly campaignStopped: (id: CampaignId) => Effect.Effect<void, StopUnconfirmed>
    /** What a running campaign dials by has changed, its organization's limit, say. Does not wait until it has looked. */
    readonly campaignChanged: (id: CampaignId) => Effect.Effect<void>
  }
>()("core/Signals") {}
