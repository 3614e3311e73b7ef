/** A telephony configuration: the provider account that calls go through. Its credentials leave the engine only masked. */
import { Effect, Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "#core/Id.ts"
import type { SetupStep } from "#core/provider/Setup.ts"
import type { Extensions } from "./Extensions.ts"

export interface TelephonyConfig {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly provider: string
  readonly isDefaultOutbound: boolean
  /** How many calls may be live through it at once. */
  readonly maxConcurrentCalls: number | undefined
  /** Counts active numbers. */
  readonly phoneNumberCount: number
  /** Why no call can be placed through it, in words for the operator. Undefined if calls can be placed. */
  readonly outboundBlockedReason: string | undefined
  /** The steps that setting it up takes, and which of them are done. */
  readonly setup: ReadonlyArray<SetupStep>
  /** The extensions that may be called through it. */
  readonly extensions: Extensions
  readonly createdAt: Date
  readonly updatedAt: Date
  /** Fields that the adapter marks as sensitive are masked. */
  readonly credentials: Readonly<Record<string, unknown>>
}

export class TelephonyConfigNotFound extends Schema.TaggedError<TelephonyConfigNotFound>()("TelephonyConfigNotFound", { id: Schema.Int }) {}
export class TelephonyConfigNameTaken extends Schema.TaggedError<TelephonyConfigNameTaken>()("TelephonyConfigNameTaken", {
  name: Schema.String
}) {}
/** No configuration was named, none is the default, and there is not exactly one. */
export class TelephonyNotConfigured extends Schema.TaggedError<TelephonyNotConfigured>()("TelephonyNotConfigured", {}) {}
/** No call can be placed through it, for a reason that the operator can fix. */
export class TelephonyNotReady extends Schema.TaggedError<TelephonyNotReady>()("TelephonyNotReady", {
  name: Schema.String,
  reason: Schema.String
}) {}
export class TelephonyProviderFixed extends Schema.TaggedError<TelephonyProviderFixed>()("TelephonyProviderFixed", {}) {}
export class TelephonyConfigInUse extends Schema.TaggedError<TelephonyConfigInUse>()("TelephonyConfigInUse", {
  id: Schema.Int,
  by: Schema.Literals(["campaigns", "calls"])
}) {}
/** The engine must not connect to that address on behalf of this organization. */
export class TelephonyAddressRefused extends Schema.TaggedError<TelephonyAddressRefused>()("TelephonyAddressRefused", {
  provider: Schema.String,
  field: Schema.String
}) {}
/** The secret was sent as a mask for which no secret is stored, or together with a new address, to which the stored secret must not be sent. */
export class TelephonySecretMasked extends Schema.TaggedError<TelephonySecretMasked>()("TelephonySecretMasked", {
  field: Schema.String
}) {}
/** The engine writes the field itself. */
export class TelephonyFieldManaged extends Schema.TaggedError<TelephonyFieldManaged>()("TelephonyFieldManaged", {
  provider: Schema.String,
  field: Schema.String
}) {}
/** With the new account, a number of the configuration would belong to two organizations. */
export class TelephonyAccountTaken extends Schema.TaggedError<TelephonyAccountTaken>()("TelephonyAccountTaken", {}) {}

/** Fails unless calls can be placed through the configuration. */
export const ready = (config: TelephonyConfig): Effect.Effect<TelephonyConfig, TelephonyNotReady> =>
  config.outboundBlockedReason === undefined
    ? Effect.succeed(config)
    : Effect.fail(new TelephonyNotReady({ name: config.name, reason: config.outboundBlockedReason }))
