/** A telephony configuration: the account at a provider through which calls go. Its credentials leave the engine only masked. */
import { Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { Extensions } from "./Extensions.ts"

export interface TelephonyConfig {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly provider: string
  readonly isDefaultOutbound: boolean
  /** Calls that may be up through it at once. */
  readonly maxConcurrentCalls: number | undefined
  /** Active ones. */
  readonly phoneNumberCount: number
  /** Why no call can go out through it, for the operator; undefined when one can. */
  readonly outboundBlockedReason: string | undefined
  /** That calls through it may go to. */
  readonly extensions: Extensions
  readonly createdAt: Date
  readonly updatedAt: Date
  /** What the adapter calls sensitive is masked. */
  readonly credentials: Readonly<Record<string, unknown>>
}

export class TelephonyConfigNotFound extends Schema.TaggedError<TelephonyConfigNotFound>()("TelephonyConfigNotFound", { id: Schema.Int }) {}
export class TelephonyConfigNameTaken extends Schema.TaggedError<TelephonyConfigNameTaken>()("TelephonyConfigNameTaken", {
  name: Schema.String
}) {}
/** None was named, none is the default, and there is not exactly one. */
export class TelephonyNotConfigured extends Schema.TaggedError<TelephonyNotConfigured>()("TelephonyNotConfigured", {}) {}
/** No call can go out through it, for a reason that the operator can mend. */
export class TelephonyNotReady extends Schema.TaggedError<TelephonyNotReady>()("TelephonyNotReady", {
  name: Schema.String,
  reason: Schema.String
}) {}
export class TelephonyProviderFixed extends Schema.TaggedError<TelephonyProviderFixed>()("TelephonyProviderFixed", {}) {}
export class TelephonyConfigInUse extends Schema.TaggedError<TelephonyConfigInUse>()("TelephonyConfigInUse", {
  id: Schema.Int,
  by: Schema.Literals(["campaigns", "calls"])
}) {}
/** The engine does not connect there on behalf of this organization. */
export class TelephonyAddressRefused extends Schema.TaggedError<TelephonyAddressRefused>()("TelephonyAddressRefused", {
  provider: Schema.String,
  field: Schema.String
}) {}
/** The address is another one, and the secret came back as its mask: whoever listens there must not get the stored one. */
export class TelephonySecretMasked extends Schema.TaggedError<TelephonySecretMasked>()("TelephonySecretMasked", {
  field: Schema.String
}) {}
/** With the account that was given, a number of the configuration would belong to two organizations. */
export class TelephonyAccountTaken extends Schema.TaggedError<TelephonyAccountTaken>()("TelephonyAccountTaken", {}) {}

/** For whoever is about to have calls go out through it. */
export const ready = (config: TelephonyConfig): Effect.Effect<TelephonyConfig, TelephonyNotReady> =>
  config.outboundBlockedReason === undefined
    ? Effect.succeed(config)
    : Effect.fail(new TelephonyNotReady({ name: config.name, reason: config.outboundBlockedReason }))
