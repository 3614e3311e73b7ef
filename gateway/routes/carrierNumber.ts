/** /api/v1/organizations/telephony-configs/{config_id}/carrier-numbers: the numbers in the provider's account, and their import. */
import { Effect } from "effect"
import { NumberImports } from "#core/telephony/NumberImports.ts"
import { list, route, tagged } from "#gateway/request/Route.ts"
import {
  CarrierNumberList,
  carrierNumberList,
  chosenAddresses,
  ImportNumbers,
  NumbersImported,
  numbersImported
} from "#gateway/wire/CarrierNumber.ts"
import { listed, pageOf, PageQuery } from "#gateway/wire/Page.ts"
import { TelephonyConfigPath } from "#gateway/wire/Telephony.ts"
import { configNotFound, telephonyTag } from "./telephony.ts"

const collection = "/api/v1/organizations/telephony-configs/:config_id/carrier-numbers"
const carrierErrors = ["NotFound", "CarrierNumbersFailed", "CarrierNumbersUnsupported", "TooManyNumberLists"] as const

export const carrierNumberRoutes = tagged(telephonyTag, [
  list({
    path: collection,
    name: "listCarrierNumbers",
    summary: "List the phone numbers of the provider's account",
    description:
      "Asks the provider, which may take some seconds. In ascending order; pages after the first come from the same answer if they are requested within a minute.",
    needs: "admin",
    answeredBy: "decider",
    params: TelephonyConfigPath,
    query: PageQuery,
    success: CarrierNumberList,
    errors: carrierErrors,
    handle: ({ caller, params, query }) =>
      NumberImports.use((_) => _.list(caller.organizationId, params.config_id, pageOf(query))).pipe(
        Effect.mapError(configNotFound),
        Effect.map((numbers) => listed(query, numbers, carrierNumberList))
      )
  }),
  route({
    method: "post",
    path: `${collection}/import`,
    name: "importCarrierNumbers",
    summary: "Add phone numbers of the provider's account",
    description:
      "All at once, or none if the request is refused. Asks the provider for its list first. Calls may show the added numbers from then on; repeating the request adds nothing.",
    needs: "admin",
    params: TelephonyConfigPath,
    body: ImportNumbers,
    success: NumbersImported,
    errors: [...carrierErrors, "NumberNotOwned", "PhoneAddressRefused", "PhoneNumbersFull"],
    handle: ({ body, caller, params }) =>
      NumberImports.use((_) => _.run(caller.organizationId, params.config_id, chosenAddresses(body))).pipe(
        Effect.mapError(configNotFound),
        Effect.map(numbersImported)
      )
  })
])
