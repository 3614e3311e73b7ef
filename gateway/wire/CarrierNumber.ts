/** Phone numbers of a provider's account, and their import. */
import Type, { type Static } from "typebox"
import type { PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { CarrierNumber, NumberImport, OwnPlace } from "#core/telephony/NumberImports.ts"
import { maxPhoneNumbers } from "#core/telephony/PhoneNumber.ts"
import { id, nullable } from "#gateway/request/Field.ts"

const own = {
  phone_number_id: nullable(id<PhoneNumberId>("The phone number, if the organization has it.")),
  telephony_configuration_id: nullable(id<TelephonyConfigId>("The configuration that has it, which may be another one."))
}
const ownWire = (place: OwnPlace | undefined) => ({
  phone_number_id: place?.id ?? null,
  telephony_configuration_id: place?.telephonyConfigurationId ?? null
})

export const CarrierNumberList = Type.Object(
  {
    numbers: Type.Array(
      Type.Object(
        { address: Type.String(), imported: Type.Boolean({ description: "Whether the organization has it already." }), ...own },
        { title: "CarrierNumber" }
      )
    )
  },
  { title: "CarrierNumberList" }
)

export const carrierNumberList = (numbers: ReadonlyArray<CarrierNumber>): Static<typeof CarrierNumberList> => ({
  numbers: numbers.map(({ address, own: place }) => ({ address, imported: place !== undefined, ...ownWire(place) }))
})

export const ImportNumbers = Type.Refine(
  Type.Object(
    {
      addresses: Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
        default: [],
        maxItems: maxPhoneNumbers,
        description: "Numbers of the account."
      }),
      all: Type.Boolean({ default: false, description: "All numbers of the account, instead of `addresses`." })
    },
    { title: "ImportNumbers" }
  ),
  ({ addresses, all }) => all === (addresses.length === 0),
  () => "Either addresses or all must be given"
)

/** Undefined: all of them. */
export const chosenAddresses = ({ addresses, all }: Static<typeof ImportNumbers>): ReadonlyArray<string> | undefined =>
  all ? undefined : addresses

const words = { imported: "imported", known: "already_imported", taken: "taken" } as const

export const NumbersImported = Type.Object(
  {
    imported: Type.Integer({ description: "How many numbers were added." }),
    numbers: Type.Array(
      Type.Object(
        {
          address: Type.String(),
          result: Type.Enum(["imported", "already_imported", "taken"], {
            description: "`taken`: another organization has the number under the same account at the provider, so it was not added."
          }),
          ...own
        },
        { title: "NumberImport" }
      )
    )
  },
  { title: "NumbersImported" }
)

export const numbersImported = (numbers: ReadonlyArray<NumberImport>): Static<typeof NumbersImported> => ({
  imported: numbers.filter(({ result }) => result === "imported").length,
  numbers: numbers.map(({ address, own: place, result }) => ({ address, result: words[result], ...ownWire(place) }))
})
