/** Port: the phone numbers that the account of a telephony configuration has at its provider. */
import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { TelephonyConfigNotFound } from "./TelephonyConfig.ts"

/** The provider cannot list numbers, or its adapter does not. */
export class CarrierNumbersUnsupported extends Schema.TaggedError<CarrierNumbersUnsupported>()("CarrierNumbersUnsupported", {
  provider: Schema.String
}) {}
/** The provider did not return its complete list of numbers, so the list counts as unknown. */
export class CarrierNumbersFailed extends Schema.TaggedError<CarrierNumbersFailed>()("CarrierNumbersFailed", {
  provider: Schema.String,
  /** In the provider's own words if it sent any, without credentials. */
  reason: Schema.String
}) {}
/** Lists are limited because each one is requested from the provider, page by page. */
export class TooManyNumberLists extends Schema.TaggedError<TooManyNumberLists>()("TooManyNumberLists", {
  retryAfterSeconds: Schema.Int
}) {}

export type CarrierNumbersError = CarrierNumbersFailed | CarrierNumbersUnsupported | TelephonyConfigNotFound | TooManyNumberLists

export class CarrierNumbers extends Context.Service<
  CarrierNumbers,
  {
    /** In E.164, sorted, without duplicates. `recent` allows a list from within the last minute. */
    readonly list: (
      organizationId: OrganizationId,
      id: TelephonyConfigId,
      age: "present" | "recent"
    ) => Effect.Effect<ReadonlyArray<string>, CarrierNumbersError>
  }
>()("core/telephony/CarrierNumbers") {}
