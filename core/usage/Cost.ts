/**
 * What the services of a conversation have cost, from its usage and the prices of the moment. Money is counted in whole nano-dollars, so that sums are
 * exact and print as they are.
 */
import { isObject } from "#core/Json.ts"
import type { CostInfo, ServiceCost, TokenUsage, UsageInfo } from "#core/run/RunRecord.ts"
import { serviceIn } from "#core/run/serviceUsage.ts"
import { type PriceLists, priceIn } from "./Price.ts"

const nanosPerDollar = 1_000_000_000
/** Finer than any unit of usage is counted. */
const unitParts = 1000

/** A part of a service's usage: `quantity` in the unit, and what `per` of them cost, in US dollars. */
type Part = Pick<ServiceCost, "unit" | "quantity"> & { readonly price: number | undefined; readonly per: number }

/** Rounded to the nearest, and halves up. */
const nanosOf = ({ per, price, quantity }: Part & { readonly price: number }): bigint => {
  const times = BigInt(Math.round(quantity * unitParts)) * BigInt(Math.round(price * nanosPerDollar))
  const divisor = BigInt(per * unitParts)
  return (2n * times + divisor) / (2n * divisor)
}
/** The nearest decimal, because a whole number of nano-dollars is divided only once. */
const dollarsOf = (nanos: bigint): number => Number(nanos) / nanosPerDollar

const million = 1_000_000

/** Zero for what is no count: whatever an earlier engine has stored, the end of a call must be recorded. */
const countOf = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0)

const tokenParts = (tokens: TokenUsage, lists: PriceLists, provider: string, model: string): ReadonlyArray<Part> => {
  const price = priceIn(lists, "llm", provider, model)
  const prompt = price?.per_million_prompt_tokens
  const all = countOf(tokens.prompt_tokens)
  const cached = Math.min(countOf(tokens.cache_read_input_tokens), all)
  return [
    { unit: "prompt_tokens", quantity: all - cached, price: prompt, per: million },
    { unit: "cached_prompt_tokens", quantity: cached, price: price?.per_million_cached_tokens ?? prompt, per: million },
    { unit: "completion_tokens", quantity: tokens.completion_tokens, price: price?.per_million_completion_tokens, per: million }
  ]
}

type Service = Pick<ServiceCost, "kind" | "provider" | "model">

const partsOf = (usage: UsageInfo, lists: PriceLists): ReadonlyArray<readonly [Service, Part]> => {
  const each = <Used>(kind: Service["kind"], used: Readonly<Record<string, Used>> | undefined, parts: PartsOf<Used>) =>
    Object.entries(used ?? {}).flatMap(([key, amount]) => {
      const { model, provider } = serviceIn(key)
      const used = parts(amount, provider, model).filter(({ quantity }) => countOf(quantity) > 0)
      return used.map((part) => [{ kind, provider, model }, part] as const)
    })
  return [
    ...each("llm", usage.llm, (tokens, provider, model) => tokenParts(tokens, lists, provider, model)),
    ...each("tts", usage.tts, (quantity, provider, model) => [
      { unit: "characters", quantity, price: priceIn(lists, "tts", provider, model)?.per_million_characters, per: million }
    ]),
    ...each("stt", usage.stt, (quantity, provider, model) => [
      { unit: "seconds", quantity, price: priceIn(lists, "stt", provider, model)?.per_minute, per: 60 }
    ])
  ]
}
type PartsOf<Used> = (used: Used, provider: string, model: string) => ReadonlyArray<Part>

/** Undefined if no service was used. What has no price is listed without one, and the total says that it is incomplete. */
export const costOf = (usage: UsageInfo, lists: PriceLists): CostInfo | undefined => {
  let total = 0n
  let isComplete = true
  const services = partsOf(usage, lists).map(([service, part]): ServiceCost => {
    const { per, price, quantity, unit } = part
    if (price === undefined) {
      isComplete = false
      return { ...service, unit, quantity, price_usd: null, price_per: per, cost_usd: null }
    }
    const nanos = nanosOf({ ...part, price })
    total += nanos
    return { ...service, unit, quantity, price_usd: price, price_per: per, cost_usd: dollarsOf(nanos) }
  })
  return services.length === 0 ? undefined : { total_cost_usd: dollarsOf(total), is_complete: isComplete, services }
}

/** The sum of amounts in US dollars, as exact as each of them. */
export const sumOfDollars = (amounts: ReadonlyArray<number>): number =>
  dollarsOf(amounts.reduce((sum, amount) => sum + BigInt(Math.round(amount * nanosPerDollar)), 0n))

/** Whether the usage is known and is none. Runs of calls about which only their end is known have no usage at all. */
export const isUnused = (usage: Readonly<Record<string, unknown>> | undefined): boolean =>
  usage !== undefined && [usage["llm"], usage["tts"], usage["stt"]].every((used) => isObject(used) && Object.keys(used).length === 0)
