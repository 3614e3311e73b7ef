/** A phone number of a telephony configuration: its calls show it to the callee, and its agent answers calls to it. */
import { Schema } from "effect"
import type { AgentId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { PhoneAddressType } from "./PhoneAddress.ts"

export interface PhoneNumber {
  readonly id: PhoneNumberId
  readonly telephonyConfigurationId: TelephonyConfigId
  /** The address as the client sent it. */
  readonly address: string
  readonly addressNormalized: string
  readonly addressType: PhoneAddressType
  readonly countryCode: string | undefined
  readonly label: string | undefined
  /** The agent that answers calls to it. */
  readonly inboundAgentId: AgentId | undefined
  readonly inboundAgentName: string | undefined
  readonly isActive: boolean
  readonly isDefaultCallerId: boolean
  /** How many calls may show it at once; undefined: unlimited. */
  readonly maxConcurrent: number | undefined
  /** Why the provider does not let calls show the number; undefined while it does. */
  readonly refusedReason: string | undefined
  readonly extraMetadata: Readonly<Record<string, unknown>>
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The maximum per configuration. */
export const maxPhoneNumbers = 1000

export class PhoneNumberNotFound extends Schema.TaggedError<PhoneNumberNotFound>()("PhoneNumberNotFound", { id: Schema.Int }) {}
/** `organization`: the organization has it already. `account`: another organization has it, under the same account at the provider. */
export class PhoneNumberTaken extends Schema.TaggedError<PhoneNumberTaken>()("PhoneNumberTaken", {
  address: Schema.String,
  by: Schema.Literals(["organization", "account"])
}) {}
export class PhoneNumbersFull extends Schema.TaggedError<PhoneNumbersFull>()("PhoneNumbersFull", {}) {}
/** The number cannot be a caller ID: a callee's phone shows only digits. */
export class CallerIdRefused extends Schema.TaggedError<CallerIdRefused>()("CallerIdRefused", {}) {}
