/** Imports phone numbers from the provider's account: all requested numbers in one transaction, or none. */
import { Context, Effect, Layer, Schema } from "effect"
import type { OrganizationId, PhoneNumberId, TelephonyConfigId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { CarrierNumbers, type CarrierNumbersError } from "./CarrierNumbers.ts"
import { type NumberChanges, numberChanges } from "./numberChanges.ts"
import { type PhoneAddressRefused, parse } from "./PhoneAddress.ts"
import { maxPhoneNumbers, PhoneNumbersFull } from "./PhoneNumber.ts"
import * as store from "./PhoneNumberStore.ts"

/** Where the organization has a number. */
export interface OwnPlace {
  readonly id: PhoneNumberId
  readonly telephonyConfigurationId: TelephonyConfigId
}

export interface CarrierNumber {
  readonly address: string
  /** Undefined if the organization does not have the number yet. */
  readonly own: OwnPlace | undefined
}

export interface NumberImport {
  readonly address: string
  /** `known`: the organization had it already. `taken`: another organization has it, under the same account at the provider. */
  readonly result: "imported" | "known" | "taken"
  /** Undefined if it is taken. */
  readonly own: OwnPlace | undefined
}

/** The account at the provider does not have this number. */
export class NumberNotOwned extends Schema.TaggedError<NumberNotOwned>()("NumberNotOwned", { address: Schema.String }) {}

export class NumberImports extends Context.Service<
  NumberImports,
  {
    /** The numbers of the provider's account. The first page is requested from the provider; later pages may come from its previous answer. */
    readonly list: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<CarrierNumber>, CarrierNumbersError>
    /** Imports the given numbers, or all numbers of the account if `addresses` is undefined. */
    readonly run: (
      organizationId: OrganizationId,
      configId: TelephonyConfigId,
      addresses: ReadonlyArray<string> | undefined
    ) => Effect.Effect<ReadonlyArray<NumberImport>, CarrierNumbersError | NumberNotOwned | PhoneAddressRefused | PhoneNumbersFull>
  }
>()("core/telephony/NumberImports") {
  static readonly layer = Layer.effect(
    NumberImports,
    Effect.gen(function* () {
      const changes = yield* numberChanges
      const { national, sealing, signalled, sql } = changes
      const carrier = yield* CarrierNumbers

      return NumberImports.of({
        list: Effect.fn("NumberImports.list")(function* (organizationId, configId, { limit, offset }) {
          const all = yield* carrier.list(organizationId, configId, offset === 0 ? "present" : "recent")
          const shown = all.slice(offset, offset + limit)
          const own = yield* Effect.orDie(store.ownPlaces(sql, organizationId, shown))
          return shown.map((address) => ({ address, own: own.get(address) }))
        }),
        run: Effect.fn("NumberImports.run")(function* (organizationId, configId, addresses) {
          const wanted = addresses && (yield* Effect.forEach(addresses, (address) => parse(address, undefined, national)))
          const all = yield* carrier.list(organizationId, configId, "present")
          const chosen = wanted === undefined ? all : [...new Set(wanted.map(({ normalized }) => normalized))].sort()
          const known = new Set(all)
          const foreign = chosen.find((address) => !known.has(address))
          if (foreign !== undefined) return yield* new NumberNotOwned({ address: foreign })
          return yield* signalled(configId, sealing(insert(changes, organizationId, configId, chosen)))
        })
      })
    })
  )
}

const insert = Effect.fnUntraced(
  function* ({ place, sql }: NumberChanges, organizationId: OrganizationId, configId: TelephonyConfigId, addresses: ReadonlyArray<string>) {
    const imported = new Set(yield* store.insertNew(sql, yield* place(organizationId, configId), addresses))
    if ((yield* store.count(sql, organizationId, configId)) > maxPhoneNumbers) return yield* new PhoneNumbersFull()
    const own = yield* store.ownPlaces(sql, organizationId, addresses)
    return addresses.map((address): NumberImport => {
      const place = own.get(address)
      return { address, own: place, result: place === undefined ? "taken" : imported.has(address) ? "imported" : "known" }
    })
  },
  (insert, { sql }) => Effect.catchTag(sql.withTransaction(insert), "SqlError", Effect.die)
)
