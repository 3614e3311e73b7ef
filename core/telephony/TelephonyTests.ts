/** Port: try a telephony configuration out, and what came of it the last time. Places no call. */
import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Check } from "#core/provider/Adapter.ts"
import type { TelephonyConfigNotFound } from "./TelephonyConfig.ts"

export interface TelephonyTest {
  /** Epoch milliseconds. */
  readonly at: number
  /** Nothing failed. */
  readonly passed: boolean
  readonly checks: ReadonlyArray<Check>
}

/** Each test connects to an address that the organization chose. */
export class TooManyTelephonyTests extends Schema.TaggedError<TooManyTelephonyTests>()("TooManyTelephonyTests", {
  retryAfterSeconds: Schema.Int
}) {}

export class TelephonyTests extends Context.Service<
  TelephonyTests,
  {
    /** Takes some seconds, twenty at most. */
    readonly run: (
      organizationId: OrganizationId,
      id: TelephonyConfigId
    ) => Effect.Effect<TelephonyTest, TelephonyConfigNotFound | TooManyTelephonyTests>
    /** The same in the background, when there is room; not at all if too many wait. What was known of the configuration is forgotten. */
    readonly runSoon: (organizationId: OrganizationId, id: TelephonyConfigId) => Effect.Effect<void>
    /** Of this node, since its start: one for each configuration that was tried. */
    readonly last: (ids: ReadonlyArray<TelephonyConfigId>) => Effect.Effect<ReadonlyMap<TelephonyConfigId, TelephonyTest>>
  }
>()("core/telephony/TelephonyTests") {}
