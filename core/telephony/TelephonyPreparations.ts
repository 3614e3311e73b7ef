/** Port: creates at the provider what a telephony configuration needs and does not name. It is kept in the configuration's managed fields. */
import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { TelephonyConfigNotFound } from "./TelephonyConfig.ts"

/** Each one may create something in the provider's account. */
export class TooManyPreparations extends Schema.TaggedError<TooManyPreparations>()("TooManyPreparations", {
  retryAfterSeconds: Schema.Int
}) {}

export class TelephonyPreparations extends Context.Service<
  TelephonyPreparations,
  {
    /** Returns once it is done, or has failed: the configuration's set-up then says why. Nothing happens if it needs nothing. */
    readonly run: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<void, TelephonyConfigNotFound | TooManyPreparations>
    /** The same in the background, for a configuration that is new or has changed, and tests it afterwards. */
    readonly runSoon: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<void>
  }
>()("core/telephony/TelephonyPreparations") {}
