import { Effect } from "effect"
import type { CarrierDeliveries } from "#core/provider/CarrierDeliveries.ts"

/** The inbox of a provider that sends no callbacks. */
export const noDeliveries: CarrierDeliveries["Service"] = {
  callOf: () => Effect.undefined,
  late: Effect.succeed([]),
  of: () => Effect.succeed([]),
  store: (deliveries) => Effect.succeed(deliveries.map(() => "first"))
}
