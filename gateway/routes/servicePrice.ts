/** /api/v1/organizations/service-prices: what speech and language services charge the organization. */
import { Effect } from "effect"
import { ServicePrices } from "#core/usage/ServicePrices.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { ServicePricesWire, servicePricesWire, SetServicePrices } from "#gateway/wire/ServicePrice.ts"
import { organizationTag } from "./organization.ts"

export const servicePriceRoutes = tagged(organizationTag, [
  route({
    method: "get",
    path: "/api/v1/organizations/service-prices",
    name: "getServicePrices",
    summary: "Read what speech and language services charge",
    description:
      "The prices that `cost_info` of runs is computed with when a call ends. Those that ship are examples, each with the day on which the vendor had it. A service without a price is listed in the run without one.",
    success: ServicePricesWire,
    handle: ({ caller }) => ServicePrices.use((_) => _.lists(caller.organizationId)).pipe(Effect.map(servicePricesWire))
  }),
  route({
    method: "put",
    path: "/api/v1/organizations/service-prices",
    name: "setServicePrices",
    summary: "Replace the organization's own prices",
    description:
      "They count before those of the installation. For calls that end from half a minute later on; runs keep the cost that they have. An empty list removes them.",
    needs: "admin",
    body: SetServicePrices,
    success: ServicePricesWire,
    handle: ({ body, caller }) => ServicePrices.use((_) => _.set(caller.organizationId, body.prices)).pipe(Effect.map(servicePricesWire))
  })
])
