/** What services cost: which price counts, and what a run's usage comes to. */
import { Result, Schema } from "effect"
import fc from "fast-check"
import t from "tap"
import type { UsageInfo } from "#core/run/RunRecord.ts"
import { costOf, sumOfDollars } from "#core/usage/Cost.ts"
import { PriceFile, priceIn, type ServicePrice } from "#core/usage/Price.ts"
import { shippedPrices } from "#core/usage/shippedPrices.ts"
import { forAll } from "#test/support/forAll.ts"

const voice = (model: string, characters: number, provider = "acme") =>
  ({ kind: "tts", provider, model, per_million_characters: characters }) as const
const tokens = (prompt: number, cached: number, completion: number) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  cache_read_input_tokens: cached
})
const llm = (cached?: number): ServicePrice => ({
  kind: "llm",
  provider: "acme",
  model: "brain",
  per_million_prompt_tokens: 0.4,
  ...(cached === undefined ? {} : { per_million_cached_tokens: cached }),
  per_million_completion_tokens: 1.6
})

t.test("given lists of prices, then an exact name counts before a pattern, and every list before the next", async (t) => {
  const own = [voice("ada-*", 3), voice("*", 1), voice("ada-2-*", 2), voice("ada-2-low", 4), voice("ada-*", 9, "other")]
  const check = (model: string, expected: number | undefined, lists = [own]) =>
    t.equal(priceIn(lists, "tts", "acme", model)?.per_million_characters, expected, model)
  check("ada-2-low", 4)
  check("ada-2-high", 2)
  check("ada-1", 3)
  check("bob", 1)
  check("bob", 7, [[], [voice("bo*", 7)], own])
  check("bob", undefined, [[voice("Bob", 5), voice("bobby", 5), voice("bobs*", 5)]])
  t.equal(priceIn([own], "stt", "acme", "bob"), undefined)
})

t.test("given the usage of a run", async (t) => {
  t.test("when all services have prices, then each part is listed and the total is exact", async (t) => {
    const lists = [[llm(0.1), voice("ada", 30), { kind: "stt", provider: "acme", model: "ear", per_minute: 0.0048 } as const]]
    const used = { llm: { "acme#0|||brain": tokens(1000, 200, 50) }, tts: { "acme#0|||ada": 123 }, stt: { "acme#0|||ear": 12.5 } }
    const model = { kind: "llm", provider: "acme", model: "brain", price_per: 1_000_000 }
    t.strictSame(costOf(used, lists), {
      total_cost_usd: 0.00511,
      is_complete: true,
      services: [
        { ...model, unit: "prompt_tokens", quantity: 800, price_usd: 0.4, cost_usd: 0.00032 },
        { ...model, unit: "cached_prompt_tokens", quantity: 200, price_usd: 0.1, cost_usd: 0.00002 },
        { ...model, unit: "completion_tokens", quantity: 50, price_usd: 1.6, cost_usd: 0.00008 },
        {
          kind: "tts",
          provider: "acme",
          model: "ada",
          unit: "characters",
          quantity: 123,
          price_usd: 30,
          price_per: 1_000_000,
          cost_usd: 0.00369
        },
        { kind: "stt", provider: "acme", model: "ear", unit: "seconds", quantity: 12.5, price_usd: 0.0048, price_per: 60, cost_usd: 0.001 }
      ]
    })
  })

  t.test("when cached tokens have no price of their own, then they cost the same as others", async (t) => {
    t.equal(costOf({ llm: { "acme#0|||brain": tokens(1000, 200, 0) } }, [[llm()]])?.total_cost_usd, 0.0004)
  })

  t.test("when a service has no price, then it is listed without one, and the total is incomplete", async (t) => {
    const cost = costOf({ tts: { "acme#0|||ada": 1_000_000, "acme#0|||bob": 5, odd: 7 } }, [[voice("ada", 30)]])
    t.match(cost, { total_cost_usd: 30, is_complete: false })
    t.match(cost?.services, [
      { cost_usd: 30 },
      { model: "bob", quantity: 5, price_usd: null, cost_usd: null },
      { provider: "odd", model: "" }
    ])
  })

  t.test("when a service costs nothing, then that is a price", async (t) => {
    t.match(costOf({ tts: { "flite#0|||slt": 30 } }, [shippedPrices]), {
      total_cost_usd: 0,
      is_complete: true,
      services: [{ cost_usd: 0 }]
    })
  })

  t.test("when no service was used, then there is no cost", async (t) => {
    t.equal(costOf({ llm: {}, tts: {}, stt: {}, call_duration_seconds: 0 }, [shippedPrices]), undefined)
    t.equal(costOf({}, [shippedPrices]), undefined)
    t.equal(costOf({ tts: { "acme#0|||ada": 0 } }, [[voice("ada", 30)]]), undefined)
  })

  t.test("when a stored count is none, then it counts as nothing", async (t) => {
    const stored: UsageInfo = JSON.parse(
      '{"llm": {"acme#0|||brain": {"prompt_tokens": 1000}}, "tts": {"acme#0|||ada": null, "acme#0|||bob": "x"}}'
    )
    t.match(costOf(stored, [[llm(0.1)]]), { total_cost_usd: 0.0004, is_complete: true, services: { length: 1 } })
  })

  t.test("when amounts are added, then no fraction of a nano-dollar appears", async (t) => {
    t.equal(sumOfDollars([0.1, 0.2]), 0.3)
    const some = fc.tuple(fc.integer({ min: 0, max: 5_000_000 }), fc.integer({ min: 0, max: 1_000_000_000 }))
    forAll(fc.array(some, { maxLength: 6 }), (uses) => {
      const prices = uses.map(([, price], index) => voice(`v${index}`, price / 1_000_000))
      const cost = costOf({ tts: Object.fromEntries(uses.map(([quantity], index) => [`acme#0|||v${index}`, quantity])) }, [prices])
      const listed = cost?.services?.map(({ cost_usd }) => cost_usd ?? Number.NaN) ?? []
      return (
        cost?.total_cost_usd === (cost === undefined ? undefined : sumOfDollars(listed)) &&
        listed.every((one) => !/\.\d{10}/.test(String(one)))
      )
    })
  })
})

t.test("given a list of prices in a file, when it is read, then what is wrong is named with its place", async (t) => {
  const read = Schema.decodeUnknownResult(PriceFile, { errors: "all", onExcessProperty: "error" })
  const check = (prices: ReadonlyArray<unknown>, ...expected: ReadonlyArray<string>) => {
    const message = Result.match(read({ prices }), { onFailure: (failure) => failure.message, onSuccess: () => "" })
    for (const words of expected) t.match(message, words)
  }
  check([voice("a", 1), { ...voice("b", -1), more: 1 }], '["prices"][1]["per_million_characters"]', '["prices"][1]["more"]')
  check([{ ...voice("a", 1), kind: "video" }], '["prices"][0]')
  check([{ kind: "stt", provider: "acme", model: "" }], '["prices"][0]["model"]', '["prices"][0]["per_minute"]')
  check([voice("a", 1), voice("b", 1), voice("a", 2)], '["prices"][2]', "Another price")
  t.ok(Result.isSuccess(read({ prices: shippedPrices })), "those that ship could be in one")
  t.strictSame(
    read({ prices: shippedPrices.filter(({ date }) => date === undefined) }),
    Result.succeed({ prices: shippedPrices.slice(0, 6) }),
    "all that charge have a date"
  )
})
