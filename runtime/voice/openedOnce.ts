/** A language model that is opened on or before its first request, and again if that failed. */
import { Effect, Scope, Semaphore, Stream } from "effect"
import { type LanguageModel, ModelError, type OpenLanguageModel } from "#core/model/LanguageModel.ts"

const faulty = new ModelError({ reason: "broken", isRetryable: false, message: "the model has a fault" })

/** The model lives as long as the scope. */
export const openedOnce = (opening: OpenLanguageModel, scope: Scope.Scope) => {
  const turns = Semaphore.makeUnsafe(1)
  let opened: LanguageModel | undefined
  const open = turns.withPermits(1)(
    Effect.suspend(() => (opened === undefined ? Scope.provide(opening, scope) : Effect.succeed(opened))).pipe(
      Effect.catchDefect(() => Effect.fail(faulty)),
      Effect.tap((model) => Effect.sync(() => void (opened = model)))
    )
  )
  const model: LanguageModel = {
    get provider() {
      return opened?.provider ?? "none"
    },
    get model() {
      return opened?.model ?? "none"
    },
    answer: (request) => Stream.unwrap(Effect.map(open, (one) => one.answer(request)))
  }
  return { model, open }
}
