/** Answers that are requested in advance: used for the same request, and dropped otherwise. */
import { Cause, Effect, Exit, FiberSet, Stream } from "effect"
import t from "tap"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest } from "#core/model/LanguageModel.ts"
import { Foresight } from "#runtime/conversation/Foresight.ts"
import { untilTrue } from "#test/support/until.ts"

const requestOf = (text: string) => ({ purpose: "turn", messages: [{ _tag: "User", text }] }) as unknown as ModelRequest
const part = (text: string): ModelPart => ({ _tag: "Text", text })

const opened = (answer: LanguageModel["answer"]) => {
  const asked: Array<ModelRequest> = []
  const use = <A, E>(run: (foresight: Foresight, model: LanguageModel) => Effect.Effect<A, E>) =>
    Effect.runPromise(
      Effect.scoped(
        Effect.gen(function* () {
          const foresight = new Foresight(yield* FiberSet.makeRuntime<never, void>())
          const model = foresight.over({
            provider: "test",
            model: "test",
            answer: (request) => {
              asked.push(request)
              return answer(request)
            }
          })
          return yield* Effect.exit(run(foresight, model))
        })
      )
    )
  return { asked, use }
}
const answerOf = (model: LanguageModel, text: string) => Stream.runCollect(model.answer(requestOf(text)))

t.test("given an answer requested in advance, when the same is asked, then it is used, and the model is asked once", async (t) => {
  const { asked, use } = opened(() => Stream.make(part("a"), part("b")))
  const exit = await use((foresight, model) =>
    Effect.gen(function* () {
      foresight.begin(requestOf("yes"))
      yield* Effect.promise(() => untilTrue("request", () => asked.length === 1))
      return yield* answerOf(model, "yes")
    })
  )
  t.strictSame(exit, Exit.succeed([part("a"), part("b")]))
  t.equal(asked.length, 1)
})

t.test("given an answer requested in advance, when something else is asked, then that is answered, and the first dropped", async (t) => {
  let isDropped = false
  const { asked, use } = opened((request) =>
    request.messages.some((message) => message._tag === "User" && message.text === "yes")
      ? Stream.ensuring(
          Stream.never,
          Effect.sync(() => {
            isDropped = true
          })
        )
      : Stream.make(part("no"))
  )
  const exit = await use((foresight, model) =>
    Effect.gen(function* () {
      foresight.begin(requestOf("yes"))
      yield* Effect.promise(() => untilTrue("request", () => asked.length === 1))
      return yield* answerOf(model, "no")
    })
  )
  t.strictSame(exit, Exit.succeed([part("no")]))
  await untilTrue("end of the first answer", () => isDropped)
  t.equal(asked.length, 2)
})

t.test("given a model that fails or throws, when asked in advance, then the failure shows only when the answer is used", async (t) => {
  const failure = new ModelError({ reason: "timeout", isRetryable: true, message: "too slow" })
  const thrown = new Error("a fault of the plugin")
  for (const fails of [
    () => Stream.fail(failure),
    () => {
      throw thrown
    }
  ]) {
    const { asked, use } = opened(fails)
    const exit = await use((foresight, model) =>
      Effect.gen(function* () {
        foresight.begin(requestOf("yes"))
        yield* Effect.promise(() => untilTrue("request", () => asked.length === 1))
        return yield* answerOf(model, "yes")
      })
    )
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    t.ok(error === failure || error === thrown, String(error))
    t.equal(asked.length, 1)
  }
})
