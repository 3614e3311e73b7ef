/** A phone number of a telephony configuration: calls show it to the callee, and calls to it are answered by its agent. */
import { Schema } from "effect"
import type { AgentId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { PhoneAddressType } from "./PhoneAddress.ts"

export interface PhoneNumber {
  readonly id: PhoneNumberId
  readonly telephonyConfigurationId: TelephonyConfigId
  /** As the client wrote it. */
  readonly address: string
  readonly addressNormalized: string
  readonly addressType: PhoneAddressType
  readonly countryCode: string | undefined
  readonly label: string | undefined
  /** Who answers calls to it. */
  readonly inboundAgentId: AgentId | undefined
  readonly inboundAgentName: string | undefined
  readonly isActive: boolean
  readonly isDefaultCallerId: boolean
  /** How many calls may show it at once; undefined: unlimited. */
  readonly maxConcurrent: number | undefined
  readonly extraMetadata: Readonly<Record<string, unknown>>
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** What a configuration holds at most. */
export const maxPhoneNumbers = 1000

export class PhoneNumberNotFound extends Schema.TaggedError<PhoneNumberNotFound>()("PhoneNumberNotFound", { id: Schema.Int }) {}
/** `organization`: it is there already. `account`: another organization has it, under the same account at the provider. */
export class PhoneNumberTaken extends Schema.TaggedError<PhoneNumberTaken>()("PhoneNumberTaken", {
  address: Schema.String,
  by: Schema.Literals(["organization", "account"])
}) {}
export class PhoneNumbersFull extends Schema.TaggedError<PhoneNumbersFull>()("PhoneNumbersFull", {}) {}
/** A callee's phone shows digits only. */
export class CallerIdRefused extends Schema.TaggedError<CallerIdRefused>()("CallerIdRefused", {}) {}
