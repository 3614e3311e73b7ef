/** What speech and language services charge. Prices are looked up by the names that the usage of a run has: service, and model or voice. */
import { Schema } from "effect"

/** US dollars, at most a million. Fractions of a billionth are dropped. */
const usd = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
const name = Schema.NonEmptyString.check(Schema.isMaxLength(200))
const common = {
  provider: name,
  /** Of a voice, its name. A `*` at the end stands for any rest. */
  model: name,
  /** The day on which the vendor had this price: `2026-01-31`. */
  date: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^\d{4}-\d{2}-\d{2}$/))),
  /** Where the vendor states it. */
  source: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(500)))
}

/** In the form in which it is stored, in files and in the database, and shown by the API. */
export const ServicePrice = Schema.Union([
  Schema.Struct({
    kind: Schema.Literal("llm"),
    ...common,
    per_million_prompt_tokens: usd,
    /** Of prompt tokens that the service had cached. If left out, they cost the same as others. */
    per_million_cached_tokens: Schema.optionalKey(usd),
    per_million_completion_tokens: usd
  }),
  Schema.Struct({ kind: Schema.Literal("tts"), ...common, per_million_characters: usd }),
  Schema.Struct({ kind: Schema.Literal("stt"), ...common, per_minute: usd })
])
export type ServicePrice = typeof ServicePrice.Type
type PricedKind = ServicePrice["kind"]
type PriceOf<Kind extends PricedKind> = Extract<ServicePrice, { readonly kind: Kind }>

export const mostPrices = 500

/** Where the first price is that has the kind, service and model of an earlier one. */
export const repeatedIn = (prices: ReadonlyArray<ServicePrice>): number | undefined => {
  const seen = new Set<string>()
  const place = prices.findIndex(({ kind, model, provider }) => {
    const before = seen.size
    return seen.add(JSON.stringify([kind, provider, model])).size === before
  })
  return place === -1 ? undefined : place
}
export const repeated = "Another price of the list is for the same kind, provider and model"

/** The contents of a price file. */
export const PriceFile = Schema.Struct({
  prices: Schema.Array(ServicePrice).check(
    Schema.isMaxLength(mostPrices),
    Schema.makeFilter((prices) => {
      const place = repeatedIn(prices)
      return place === undefined ? undefined : { path: [place], issue: repeated }
    })
  )
})

/** Lists of prices, the most binding first: those of an organization, of the installation, and those that ship. */
export type PriceLists = ReadonlyArray<ReadonlyArray<ServicePrice>>

const names = (pattern: string, model: string): boolean =>
  pattern.endsWith("*") ? model.startsWith(pattern.slice(0, -1)) : pattern === model
const isExact = ({ model }: ServicePrice): boolean => !model.endsWith("*")
/** An exact name before a pattern, and a long pattern before a short one. */
const closer = (one: ServicePrice, other: ServicePrice): ServicePrice => {
  if (isExact(one) !== isExact(other)) return isExact(one) ? one : other
  return other.model.length > one.model.length ? other : one
}

/** The price in the first list that has one. Undefined: nobody has stated it. */
export const priceIn = <Kind extends PricedKind>(
  lists: PriceLists,
  kind: Kind,
  provider: string,
  model: string
): PriceOf<Kind> | undefined => {
  const isOf = (price: ServicePrice): price is PriceOf<Kind> =>
    price.kind === kind && price.provider === provider && names(price.model, model)
  for (const list of lists) {
    const [first, ...others] = list.filter(isOf)
    // Cast: it is one of those that were filtered.
    if (first !== undefined) return others.reduce(closer, first) as PriceOf<Kind>
  }
  return undefined
}
