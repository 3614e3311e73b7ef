/** Prices of speech and language services. */
import Type, { type Static } from "typebox"
import { mostPrices, type PriceLists, repeated, repeatedIn, type ServicePrice } from "#core/usage/Price.ts"

const usd = (per: string) => Type.Number({ minimum: 0, maximum: 1_000_000, description: `US dollars per ${per}.` })
const common = {
  provider: Type.String({ minLength: 1, maxLength: 200, description: "As in the usage of runs, such as `openai`." }),
  model: Type.String({
    minLength: 1,
    maxLength: 200,
    description: "As in the usage of runs: of a voice, its name. `*` at the end stands for any rest; an exact name counts before that."
  }),
  date: Type.Optional(Type.String({ pattern: "^\\d{4}-\\d{2}-\\d{2}$", description: "The day on which the vendor had this price." })),
  source: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: "Where the vendor states it." }))
}

const Price = Type.Union(
  [
    Type.Object(
      {
        kind: Type.Literal("llm"),
        ...common,
        per_million_prompt_tokens: usd("million prompt tokens"),
        per_million_cached_tokens: Type.Optional(usd("million cached prompt tokens. Left out: as for other prompt tokens")),
        per_million_completion_tokens: usd("million completion tokens")
      },
      { title: "LanguageModelPrice" }
    ),
    Type.Object({ kind: Type.Literal("tts"), ...common, per_million_characters: usd("million characters") }, { title: "VoicePrice" }),
    Type.Object({ kind: Type.Literal("stt"), ...common, per_minute: usd("minute of audio") }, { title: "RecognizerPrice" })
  ],
  { title: "ServicePrice", discriminator: { propertyName: "kind" } }
)
const prices = () => Type.Array(Price, { maxItems: mostPrices })

export const SetServicePrices = Type.Refine(
  Type.Object({ prices: prices() }, { title: "SetServicePrices" }),
  (given) => repeatedIn(given.prices) === undefined,
  () => repeated
)

export const ServicePricesWire = Type.Object(
  {
    prices: Type.Array(Price, { description: "The organization's own." }),
    others: Type.Array(Price, {
      description: "Those of the installation and those that ship, which apply where the organization has none. The first that fits counts."
    })
  },
  { title: "ServicePrices" }
)

export const servicePricesWire = ([own = [], ...others]: PriceLists): Static<typeof ServicePricesWire> => ({
  prices: own.map(wireOf),
  others: others.flat().map(wireOf)
})
const wireOf = (price: ServicePrice): Static<typeof Price> => ({ ...price })
