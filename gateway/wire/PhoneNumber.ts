/** Phone numbers of a telephony configuration, as clients write and read them. */
import Type, { type Static } from "typebox"
import type { AgentId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { PhoneNumber } from "#core/telephony/PhoneNumber.ts"
import type { NewPhoneNumber, PhoneNumberChanges } from "#core/telephony/PhoneNumbers.ts"
import { id, instant, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

export const PhoneNumberPath = Type.Object({ config_id: id<TelephonyConfigId>(), number_id: id<PhoneNumberId>() })

const country = optional(Type.String({ minLength: 2, maxLength: 2, description: "An ISO 3166-1 code of two letters, such as `DE`." }))
const label = optional(Type.String({ maxLength: 64 }))
const inbound = optional(id<AgentId>("The agent that answers calls to this number."))

const maxConcurrent = optional(
  Type.Integer({ minimum: 1, maximum: 100_000, description: "How many calls may show the number at once; unlimited when absent." })
)

export const CreatePhoneNumber = Type.Object(
  {
    address: Type.String({ minLength: 1, maxLength: 255, description: "A phone number, a SIP address or an extension." }),
    country_code: country,
    label,
    inbound_workflow_id: inbound,
    is_active: Type.Boolean({ default: true }),
    is_default_caller_id: Type.Boolean({ default: false }),
    max_concurrent: maxConcurrent,
    extra_metadata: Type.Union([object(), Type.Null()], { default: {} })
  },
  { title: "CreatePhoneNumber" }
)

const codeOf = (code: string | null): string | undefined => code?.toUpperCase()

export const newPhoneNumberOf = (body: Static<typeof CreatePhoneNumber>): NewPhoneNumber => ({
  address: body.address,
  countryCode: codeOf(body.country_code),
  label: orUndefined(body.label),
  inboundAgentId: orUndefined(body.inbound_workflow_id),
  isActive: body.is_active,
  isDefaultCallerId: body.is_default_caller_id,
  maxConcurrent: orUndefined(body.max_concurrent),
  extraMetadata: body.extra_metadata ?? {}
})

export const UpdatePhoneNumber = Type.Object(
  {
    country_code: country,
    label,
    inbound_workflow_id: inbound,
    clear_inbound_workflow: Type.Boolean({ default: false }),
    is_active: optional(Type.Boolean()),
    max_concurrent: maxConcurrent,
    clear_max_concurrent: Type.Boolean({ default: false }),
    extra_metadata: optional(object())
  },
  { title: "UpdatePhoneNumber", description: "Fields that are left out or null stay as they are. The address cannot be changed." }
)

export const phoneNumberChangesOf = (body: Static<typeof UpdatePhoneNumber>): PhoneNumberChanges => ({
  countryCode: codeOf(body.country_code),
  label: orUndefined(body.label),
  inboundAgentId: body.clear_inbound_workflow ? null : orUndefined(body.inbound_workflow_id),
  isActive: orUndefined(body.is_active),
  maxConcurrent: body.clear_max_concurrent ? null : orUndefined(body.max_concurrent),
  extraMetadata: orUndefined(body.extra_metadata)
})

const ProviderSync = Type.Object({ ok: Type.Boolean(), message: nullable(Type.String()) }, { title: "ProviderSync" })

export const PhoneNumberWire = Type.Object(
  {
    id: id<PhoneNumberId>(),
    telephony_configuration_id: id<TelephonyConfigId>(),
    address: Type.String(),
    address_normalized: Type.String(),
    address_type: Type.Enum(["pstn", "sip_uri", "sip_extension"]),
    country_code: nullable(Type.String()),
    label: nullable(Type.String()),
    inbound_workflow_id: nullable(id<AgentId>()),
    inbound_workflow_name: nullable(Type.String()),
    is_active: Type.Boolean(),
    is_default_caller_id: Type.Boolean(),
    max_concurrent: nullable(Type.Integer()),
    refused_reason: nullable(
      Type.String({
        description:
          "Why the provider does not let calls show the number, in its own words. Calls show the others until `is_active: true` is sent again."
      })
    ),
    extra_metadata: object(),
    created_at: instant(),
    updated_at: instant(),
    provider_sync: Type.Union([ProviderSync, Type.Null()], {
      description: "The result of passing the change on to the provider; null if there was nothing to pass on."
    })
  },
  { title: "PhoneNumber" }
)

export const phoneNumberWire = (number: PhoneNumber): Static<typeof PhoneNumberWire> => ({
  id: number.id,
  telephony_configuration_id: number.telephonyConfigurationId,
  address: number.address,
  address_normalized: number.addressNormalized,
  address_type: number.addressType,
  country_code: orNull(number.countryCode),
  label: orNull(number.label),
  inbound_workflow_id: orNull(number.inboundAgentId),
  inbound_workflow_name: orNull(number.inboundAgentName),
  is_active: number.isActive,
  is_default_caller_id: number.isDefaultCallerId,
  max_concurrent: orNull(number.maxConcurrent),
  refused_reason: orNull(number.refusedReason),
  extra_metadata: number.extraMetadata,
  created_at: number.createdAt.toISOString(),
  updated_at: number.updatedAt.toISOString(),
  provider_sync: null
})

export const PhoneNumberList = Type.Object({ phone_numbers: Type.Array(PhoneNumberWire) }, { title: "PhoneNumberList" })

export const PhoneNumberDeleted = Type.Object(
  { message: Type.String(), provider_sync: Type.Union([ProviderSync, Type.Null()]) },
  { title: "PhoneNumberDeleted" }
)
