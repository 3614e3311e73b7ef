/** Requests that a service refuses before it has answered, and the keys of a list that take turns. */
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import t from "tap"
import { type LanguageModel, ModelError, type ModelPart, noTokens } from "#core/model/LanguageModel.ts"
import { defineLanguageModel } from "#core/model/ModelProvider.ts"
import { optionalText } from "#core/provider/Credential.ts"
import { aRequest, answered, textOf } from "#test/adapters/modelScene.ts"
import { webhooksOf } from "#test/support/egress.ts"
import { run } from "#test/support/run.ts"

const egress = webhooksOf({ privateWebhooks: false })
const finished: ModelPart = { _tag: "Finished", why: "stop", usage: noTokens }
type Reason = ModelError["reason"]
const failure = (reason: Reason, retryAfterMillis?: number) =>
  new ModelError({ reason, isRetryable: true, message: reason, ...(retryAfterMillis === undefined ? {} : { retryAfterMillis }) })

/** A service that says the key it was asked with, once it has failed in the ways that are listed for that key. */
const service = (failures: Readonly<Record<string, ReadonlyArray<ModelError>>> = {}, words = "") => {
  const asked: Array<string> = []
  const left = new Map(Object.entries(failures).map(([key, errors]) => [key, [...errors]]))
  const provider = defineLanguageModel({
    manifest: { contract: 1, kind: "llm", provider: "p", title: "P", description: "" },
    fields: { api_key: optionalText({ label: "Key", sensitive: true }) },
    open: ({ api_key: key }) =>
      Effect.succeed({
        provider: "p",
        model: "m",
        answer: () =>
          Stream.suspend(() => {
            asked.push(key)
            const error = left.get(key)?.shift()
            const text: ReadonlyArray<ModelPart> = words === "" ? [] : [{ _tag: "Text", text: words }]
            if (error !== undefined) return Stream.concat(Stream.fromIterable(text), Stream.fail(error))
            return Stream.fromIterable<ModelPart>([{ _tag: "Text", text: key }, finished])
          })
      })
  })
  return { asked, provider }
}
const talk = <A>({ provider }: ReturnType<typeof service>, api_key: unknown, use: (model: LanguageModel) => Effect.Effect<A>) =>
  run(Effect.scoped(Effect.flatMap(Effect.orDie(provider.open({ api_key }, { egress })), use)))
const answerOf = (model: LanguageModel) => answered(model, aRequest)

t.test("given a list of keys, then the conversations take turns with them", async (t) => {
  const p = service()
  for (const expected of ["a", "b", "c", "a"]) t.equal(textOf((await talk(p, ["a", "b", "c"], answerOf)).parts), expected)
  t.equal(textOf((await talk(p, "one", answerOf)).parts), "one")
})

t.test("given a key that is refused, then the next one is asked at once, and the conversation stays with it", async (t) => {
  for (const reason of ["auth", "credit", "rate_limited"] as const) {
    const p = service({ a: [failure(reason, 60_000)] })
    const texts = await talk(p, ["a", "b"], (model) =>
      Effect.map(Effect.all([answerOf(model), answerOf(model)]), (both) => both.map(({ parts }) => textOf(parts)))
    )
    t.strictSame(texts, ["b", "b"], reason)
    t.strictSame(p.asked, ["a", "b", "b"])
  }
})

t.test("given keys that are all refused, then each is asked once, and the last error counts", async (t) => {
  const p = service({ a: [failure("auth")], b: [failure("credit")] })
  t.match(await talk(p, ["a", "b"], answerOf), { parts: [], error: { reason: "credit" } })
  t.strictSame(p.asked, ["a", "b"])
})

t.test("given an answer that has begun, when it fails, then nothing of it is repeated", async (t) => {
  const p = service({ a: [failure("rate_limited", 1)] }, "Well, ")
  t.match(await talk(p, ["a", "b"], answerOf), { parts: [{ text: "Well, " }], error: { reason: "rate_limited" } })
  t.strictSame(p.asked, ["a"])
})

t.test("given a service that asks for a wait", async (t) => {
  const after = (errors: ReadonlyArray<ModelError>, millis: number) => {
    const p = service({ a: errors })
    return talk(p, "a", (model) =>
      Effect.gen(function* () {
        const answering = yield* Effect.forkChild(answerOf(model))
        yield* TestClock.adjust(millis - 1)
        const early = p.asked.length
        yield* TestClock.adjust(1)
        return { early, answer: yield* Fiber.join(answering), asked: p.asked.length }
      })
    )
  }
  const limited = failure("rate_limited", 1500)
  t.match(await after([limited], 1500), { early: 1, answer: { error: undefined }, asked: 2 }, "then it is asked again after it")
  t.match(await after([limited, limited], 1500), { answer: { error: { reason: "rate_limited" } }, asked: 2 }, "but only once")
  t.match(await after([failure("broken", 2001)], 1), { answer: { error: { reason: "broken" } }, asked: 1 }, "a long wait is too long")
  t.match(await after([failure("broken")], 1), { answer: { error: { reason: "broken" } }, asked: 1 }, "without one, nothing is repeated")
})

t.test("given a list with something that is no key, then the configuration is refused", async (t) => {
  const { provider } = service()
  t.match(provider.faultsOf({ api_key: ["a", { b: 1 }] }), [{ field: "api_key" }])
  t.strictSame(provider.faultsOf({ api_key: ["a", 5, "c"] }), [])
})
