/** Port: tests a telephony configuration, and returns the latest result. Places no call. */
import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check } from "#core/provider/Adapter.ts"
import type { TelephonyConfigNotFound } from "./TelephonyConfig.ts"

export interface TelephonyTest {
  /** Epoch milliseconds. */
  readonly at: number
  /** True unless a check failed. */
  readonly passed: boolean
  readonly checks: ReadonlyArray<Check>
}

/** Tests are limited because each one connects to an address that the organization chose. */
export class TooManyTelephonyTests extends Schema.TaggedError<TooManyTelephonyTests>()("TooManyTelephonyTests", {
  retryAfterSeconds: Schema.Int
}) {}

export class TelephonyTests extends Context.Service<
  TelephonyTests,
  {
    /** Takes a few seconds, at most twenty. */
    readonly run: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<TelephonyTest, TelephonyConfigNotFound | TooManyTelephonyTests>
    /** Runs the test in the background once there is room, or not at all if too many wait. Drops the previous result. */
    readonly runSoon: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<void>
    /** The latest results on this node since its start, for configurations that were tested. */
    readonly last: (ids: ReadonlyArray<TelephonyConfigId>) => Effect.Effect<ReadonlyMap<TelephonyConfigId, TelephonyTest>>
  }
>()("core/telephony/TelephonyTests") {}
