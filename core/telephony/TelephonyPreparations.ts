/** Port: creates at the provider what a telephony configuration needs and does not name. The results are stored in its managed fields. */
import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { TelephonyConfigNotFound } from "./TelephonyConfig.ts"

/** Preparations are limited because each one may create something in the provider's account. */
export class TooManyPreparations extends Schema.TaggedError<TooManyPreparations>()("TooManyPreparations", {
  retryAfterSeconds: Schema.Int
}) {}

export class TelephonyPreparations extends Context.Service<
  TelephonyPreparations,
  {
    /** Returns when it is done or has failed, in which case the configuration's setup steps say why. Does nothing if nothing is needed. */
    readonly run: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<void, TelephonyConfigNotFound | TooManyPreparations>
    /** Does the same in the background, for a configuration that is new or has changed, and tests it afterwards. */
    readonly runSoon: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<void>
  }
>()("core/telephony/TelephonyPreparations") {}
