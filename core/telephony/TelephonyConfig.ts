/** A telephony configuration: the account at a provider through which calls go. Its credentials leave the engine only masked. */
import { Schema } from "effect"
import type { OrganizationId, TelephonyConfigId } from "../Id.ts"

export interface TelephonyConfig {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly name: string
  readonly provider: string
  readonly isDefaultOutbound: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
  /** What the adapter calls sensitive is masked. */
  readonly credentials: Readonly<Record<string, unknown>>
}

/** For the engine only. */
export interface TelephonyAccess {
  readonly id: TelephonyConfigId
  readonly organizationId: OrganizationId
  readonly provider: string
  readonly credentials: Readonly<Record<string, unknown>>
}

export class TelephonyConfigNotFound extends Schema.TaggedError<TelephonyConfigNotFound>()("TelephonyConfigNotFound", { id: Schema.Int }) {}
export class TelephonyConfigNameTaken extends Schema.TaggedError<TelephonyConfigNameTaken>()("TelephonyConfigNameTaken", {
  name: Schema.String
}) {}
/** None was named, none is the default, and there is not exactly one. */
export class TelephonyNotConfigured extends Schema.TaggedError<TelephonyNotConfigured>()("TelephonyNotConfigured", {}) {}
