/** The tokens of answers: those that a service reports, and those of answers that are dropped before it does. */
import { Effect, Stream } from "effect"
import t from "tap"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest } from "#core/model/LanguageModel.ts"
import { TokenCount } from "#runtime/conversation/TokenCount.ts"
import { untilTrue } from "#test/support/until.ts"

/** Requests of the same length. */
const requestOf = (text: "whole" | "begun" | "fails") =>
  ({ purpose: "turn", messages: [{ _tag: "User", text }] }) as unknown as ModelRequest
const wordsOf = ({ messages }: ModelRequest) => messages.flatMap((message) => (message._tag === "User" ? [message.text] : [])).join()
const text = (words: string): ModelPart => ({ _tag: "Text", text: words })
const finished: ModelPart = { _tag: "Finished", why: "stop", usage: { promptTokens: 100, completionTokens: 8, cachedTokens: 30 } }
const failure = new ModelError({ reason: "broken", isRetryable: true, message: "cut" })

const answers: LanguageModel["answer"] = (request) => {
  if (wordsOf(request) === "whole") return Stream.make(text("Yes, "), text("you can."), finished, finished)
  return Stream.concat(Stream.make(text("Yes, yo")), wordsOf(request) === "fails" ? Stream.fail(failure) : Stream.never)
}
const counting = () => {
  const count = new TokenCount()
  let parts = 0
  const told: LanguageModel["answer"] = (request) => Stream.tap(answers(request), () => Effect.sync(() => parts++))
  const ask = (words: "whole" | "begun" | "fails") => Effect.ignore(Stream.runDrain(count.counted({ answer: told }, requestOf(words))))
  return { ask, count, hasBegun: Effect.promise(() => untilTrue("answer", () => parts > 0)) }
}

const used = (promptTokens: number, completionTokens: number, cachedTokens: number) => ({ promptTokens, completionTokens, cachedTokens })

t.test("given complete answers, then each counts once, as its service reports", async (t) => {
  const { ask, count } = counting()
  await Effect.runPromise(Effect.andThen(ask("whole"), ask("whole")))
  t.strictSame(count.used(), used(200, 16, 60))
})

t.test("given an answer that is dropped halfway, then it counts in proportion to those that the service reported", async (t) => {
  const { ask, count, hasBegun } = counting()
  await Effect.runPromise(Effect.raceFirst(ask("begun"), hasBegun))
  t.strictSame(count.used(), used(0, 0, 0), "nothing is known yet")
  await Effect.runPromise(ask("whole"))
  t.strictSame(count.used(), used(200, 12, 30))
})

t.test("given an answer that fails, then it does not count", async (t) => {
  const { ask, count } = counting()
  await Effect.runPromise(Effect.andThen(ask("fails"), ask("whole")))
  t.strictSame(count.used(), used(100, 8, 30))
})
