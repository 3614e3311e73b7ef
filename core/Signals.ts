/**
 * Port: tells the owner of a campaign, on any node, to look at the campaign's row again. A signal carries no data and may be lost; an owner
 * that missed one finds out at its next reconcile.
 */
import { Context, type Effect, Schema } from "effect"
import type { CampaignId } from "./Id.ts"

/** The row says that nothing may be dialed any more, but it is not yet known whether the owner has been told. Ask again. */
export class StopUnconfirmed extends Schema.TaggedError<StopUnconfirmed>()("StopUnconfirmed", { retryAfterSeconds: Schema.Int }) {}

export class Signals extends Context.Service<
  Signals,
  {
    /** The campaign may dial from now on and needs an owner. Repeats with the same `occasion` (a dial epoch, say) are ignored. */
    readonly campaignRunning: (id: CampaignId, occasion: string) => Effect.Effect<void>
    /**
     * The campaign's row says that it must not dial any more, or only with other settings. Returns once no node can send a request under an
     * older permit.
     */
    readonly campaignStopped: (id: CampaignId) => Effect.Effect<void, StopUnconfirmed>
    /** Something that affects a running campaign has changed, such as its organization's limit. Does not wait until the owner has looked. */
    readonly campaignChanged: (id: CampaignId) => Effect.Effect<void>
  }
>()("core/Signals") {}
