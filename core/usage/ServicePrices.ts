/** The prices that apply to an organization: its own, those of the installation, and those that ship. */
import { Context, Duration, Effect, Exit, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import { type PriceLists, ServicePrice } from "./Price.ts"
import * as store from "./ServicePricesStore.ts"
import { shippedPrices } from "./shippedPrices.ts"

/** What the operator has stated. */
export const InstallationPrices = Context.Reference<ReadonlyArray<ServicePrice>>("core/usage/InstallationPrices", {
  defaultValue: () => []
})

const isPrice = Schema.is(ServicePrice)
/** Whatever is stored, such as by a later release, the end of a call must be recorded: what is no price is left out. */
const pricesIn = (stored: unknown): ReadonlyArray<ServicePrice> => (Array.isArray(stored) ? stored.filter(isPrice) : [])

const ownOf = (sql: SqlClient.SqlClient, id: OrganizationId) =>
  store.find(sql, id).pipe(
    Effect.map((rows) => pricesIn(rows[0]?.prices)),
    Effect.orDie
  )

export class ServicePrices extends Context.Service<
  ServicePrices,
  {
    /** The first list is the organization's own. */
    readonly lists: (id: OrganizationId) => Effect.Effect<PriceLists>
    /** Replaces the organization's own. Calls that end in the next half minute may still have the former ones. */
    readonly set: (id: OrganizationId, prices: ReadonlyArray<ServicePrice>) => Effect.Effect<PriceLists>
  }
>()("core/usage/ServicePrices") {
  static readonly layer = Layer.effect(
    ServicePrices,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const installation = yield* InstallationPrices
      return ServicePrices.of({
        lists: Effect.fn("ServicePrices.lists")((id) => Effect.map(ownOf(sql, id), (own) => [own, installation, shippedPrices])),
        set: Effect.fn("ServicePrices.set")((id, prices) =>
          Effect.as(Effect.orDie(store.put(sql, id, prices)), [prices, installation, shippedPrices])
        )
      })
    })
  )
}

const remembered = 1000
const timeToLive = Duration.seconds(30)

/** The prices for the calls that end now, which need no query of their own while many end. */
export const CallPrices = Context.Reference<(id: OrganizationId) => Effect.Effect<PriceLists>>("core/usage/CallPrices", {
  defaultValue: () => () => Effect.succeed([shippedPrices])
})

export const callPricesLayer = Layer.effect(
  CallPrices,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const installation = yield* InstallationPrices
    const lookUp = (id: OrganizationId): Effect.Effect<PriceLists> =>
      Effect.map(ownOf(sql, id), (own) => [own, installation, shippedPrices])
    const { get } = yield* SteadyCache.make(lookUp, {
      capacity: remembered,
      timeToLive: (exit) => (Exit.isSuccess(exit) ? timeToLive : Duration.zero)
    })
    return get
  })
)
