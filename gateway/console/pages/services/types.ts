/** What the API tells of speech and language services. */
import type { Static } from "typebox"
import type { ModelConfigurationDefaultsWire, ModelConfigurationWire } from "#gateway/wire/ModelConfiguration.ts"
import type { ServicePricesWire, SetServicePrices } from "#gateway/wire/ServicePrice.ts"

export type Configured = Static<typeof ModelConfigurationWire>
export type Available = Static<typeof ModelConfigurationDefaultsWire>
export type Prices = Static<typeof ServicePricesWire>
export type Price = Static<typeof SetServicePrices>["prices"][number]
