/** The model of a call: answers that are requested in advance are used for the same request, and dropped otherwise, but counted. */
import { Cause, Effect, Exit, FiberSet, Stream } from "effect"
import t from "tap"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest } from "#core/model/LanguageModel.ts"
import { CallModel } from "#runtime/voice/CallModel.ts"
import { runLive } from "#test/support/run.ts"
import { untilTrue } from "#test/support/until.ts"

const requestOf = (text: string) => ({ purpose: "turn", messages: [{ _tag: "User", text }] }) as unknown as ModelRequest
const callModel = Effect.fnUntraced(function* (answer: LanguageModel["answer"]) {
  const fork = yield* FiberSet.makeRuntime<never, void>()
  const opening = Effect.succeed({ provider: "test", model: "test", answer })
  const model = new CallModel(opening, { scope: yield* Effect.scope, fork, now: () => 0, waited: () => {} })
  yield* model.open
  return model
})
const part = (text: string): ModelPart => ({ _tag: "Text", text })

/** Requests an answer to "yes" in advance, and then one to `said`: what that comes to, and how often the model was asked. */
const answerTo = async (said: string, answer: LanguageModel["answer"]) => {
  let asked = 0
  const exit = await runLive(function* () {
    const model = yield* callModel((request) => {
      asked++
      return answer(request)
    })
    model.begin(requestOf("yes"))
    yield* Effect.promise(() => untilTrue("request", () => asked === 1))
    return yield* Effect.exit(Stream.runCollect(model.answer(requestOf(said))))
  })
  return { asked, exit }
}

t.test("given an answer requested in advance, when the same is asked, then it is used, and the model is asked once", async (t) => {
  t.strictSame(await answerTo("yes", () => Stream.make(part("a"), part("b"))), { asked: 1, exit: Exit.succeed([part("a"), part("b")]) })
})

t.test("given an answer requested in advance, when something else is asked, then that is answered, and the first dropped", async (t) => {
  let isDropped = false
  const dropped = Effect.sync(() => void (isDropped = true))
  const seen = await answerTo("no", ({ messages }) =>
    JSON.stringify(messages).includes("yes") ? Stream.ensuring(Stream.never, dropped) : Stream.make(part("no"))
  )
  t.strictSame(seen, { asked: 2, exit: Exit.succeed([part("no")]) })
  await untilTrue("end of the first answer", () => isDropped)
})

t.test("given a model that fails or throws, when asked in advance, then the failure shows only when the answer is used", async (t) => {
  const failure = new ModelError({ reason: "timeout", isRetryable: true, message: "too slow" })
  const thrown = new Error("a fault of the plugin")
  const throwing = () => {
    throw thrown
  }
  for (const [fails, expected] of [[() => Stream.fail(failure), failure] as const, [throwing, thrown] as const]) {
    const { asked, exit } = await answerTo("yes", fails)
    t.equal(Exit.isFailure(exit) && Cause.squash(exit.cause), expected)
    t.equal(asked, 1)
  }
})

t.test("given an answer requested in advance, when another one is needed, then both are counted", async (t) => {
  const usage = { promptTokens: 100, completionTokens: 8, cachedTokens: 30 }
  let parts = 0
  await runLive(function* () {
    const model = yield* callModel(({ messages }) => {
      const isWhole = JSON.stringify(messages).includes("whole")
      const rest = isWhole ? Stream.make<[ModelPart]>({ _tag: "Finished", why: "stop", usage }) : Stream.never
      return Stream.tap(Stream.concat(Stream.make(part("Yes, you can")), rest), () => Effect.sync(() => parts++))
    })
    model.begin(requestOf("begun"))
    yield* Effect.promise(() => untilTrue("answer", () => parts > 0))
    yield* Stream.runDrain(model.answer(requestOf("whole")))
    yield* Effect.promise(() => untilTrue("end of the first answer", () => model.tokens.used().promptTokens > 100))
    t.strictSame(model.tokens.used(), { promptTokens: 200, completionTokens: 16, cachedTokens: 30 })
  })
})
