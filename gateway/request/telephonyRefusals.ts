/** Refusals that concern telephony configurations and phone numbers: rows of the table in Refusal.ts. */
import { refusedWords } from "#core/egress/Egress.ts"
import { maskedMessage } from "#core/model/ModelSecrets.ts"
import type { CarrierNumbersFailed, CarrierNumbersUnsupported } from "#core/telephony/CarrierNumbers.ts"
import type { NumberNotOwned } from "#core/telephony/NumberImports.ts"
import type { PhoneAddressRefused } from "#core/telephony/PhoneAddress.ts"
import * as phoneNumber from "#core/telephony/PhoneNumber.ts"
import type {
  TelephonyAccountTaken,
  TelephonyAddressRefused,
  TelephonyConfigInUse,
  TelephonyConfigNameTaken,
  TelephonyConfigNotFound,
  TelephonyFieldManaged,
  TelephonyNotConfigured,
  TelephonyNotReady,
  TelephonyProviderFixed,
  TelephonySecretMasked
} from "#core/telephony/TelephonyConfig.ts"
import { type Violation, valueError } from "./Violation.ts"

export type TelephonyError =
  | CarrierNumbersFailed
  | CarrierNumbersUnsupported
  | NumberNotOwned
  | PhoneAddressRefused
  | phoneNumber.CallerIdRefused
  | phoneNumber.PhoneNumberNotFound
  | phoneNumber.PhoneNumbersFull
  | phoneNumber.PhoneNumberTaken
  | TelephonyAccountTaken
  | TelephonyAddressRefused
  | TelephonyConfigInUse
  | TelephonyConfigNameTaken
  | TelephonyConfigNotFound
  | TelephonyFieldManaged
  | TelephonyNotConfigured
  | TelephonyNotReady
  | TelephonyProviderFixed
  | TelephonySecretMasked

type ErrorOf<Tag extends TelephonyError["_tag"]> = Extract<TelephonyError, { readonly _tag: Tag }>

const ambiguousRoute =
  "Inbound calls cannot be uniquely routed when the same number is configured against the same provider account in more than one place."

export const telephonyRefusals: {
  readonly [Tag in TelephonyError["_tag"]]: readonly [status: number, detail: (error: ErrorOf<Tag>) => string | ReadonlyArray<Violation>]
} = {
  CallerIdRefused: [400, () => "The caller ID must consist of digits"],
  CarrierNumbersFailed: [502, ({ provider, reason }) => `${provider} did not list its numbers: ${reason}`],
  CarrierNumbersUnsupported: [400, ({ provider }) => `The numbers of an account cannot be listed with ${provider}. Add them one by one.`],
  NumberNotOwned: [400, ({ address }) => `Phone number is not owned by this provider account: ${address}`],
  PhoneAddressRefused: [422, ({ reason }) => [valueError(["body"], null, reason)]],
  PhoneNumberNotFound: [404, () => "Phone number not found"],
  PhoneNumbersFull: [409, () => `A telephony configuration holds at most ${phoneNumber.maxPhoneNumbers} phone numbers.`],
  PhoneNumberTaken: [
    409,
    ({ address, by }) =>
      by === "organization"
        ? "A phone number with this address already exists in the org."
        : `Phone number ${address} is already registered under another organization using the same provider account. ${ambiguousRoute}`
  ],
  TelephonyAccountTaken: [
    409,
    () =>
      `A phone number of this configuration is already registered under another organization using the same provider account. ${ambiguousRoute}`
  ],
  TelephonyAddressRefused: [422, ({ field, provider }) => [valueError(["body", "config", provider, field], null, refusedWords)]],
  TelephonyConfigInUse: [
    409,
    ({ by, id }) =>
      by === "campaigns"
        ? `Telephony configuration ${id} is referenced by one or more campaigns and cannot be deleted.`
        : `Telephony configuration ${id} has calls that are not over yet and cannot be deleted.`
  ],
  TelephonyConfigNameTaken: [
    409,
    ({ name }) => `A telephony configuration named '${name}' already exists in this organization. Pick a different name.`
  ],
  TelephonyConfigNotFound: [400, () => "telephony_configuration_not_found"],
  TelephonyFieldManaged: [
    422,
    ({ field, provider }) => [
      valueError(["body", "config", provider, field], null, "the engine sets this field itself: leave it out, or send it as it was read")
    ]
  ],
  TelephonyNotConfigured: [400, () => "Telephony provider not configured for this organization"],
  TelephonyNotReady: [400, ({ name, reason }) => `'${name}' is not ready for outbound calls. ${reason}`],
  TelephonyProviderFixed: [400, () => "Provider cannot be changed; create a new configuration instead."],
  TelephonySecretMasked: [400, ({ field }) => maskedMessage(field)]
}
