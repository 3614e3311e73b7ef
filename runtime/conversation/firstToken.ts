/** How long a language model takes to begin its answers. */
import { Stream } from "effect"
import type { LanguageModel } from "#core/model/LanguageModel.ts"

/** The same model. `waited` is told of each answer that a callee waits for, with the time from the request to its first piece. */
export const firstTokenTimed = (model: LanguageModel, now: () => number, waited: (millis: number) => void): LanguageModel => {
  const answer: LanguageModel["answer"] = (request) => {
    if (request.purpose === "extract") return model.answer(request)
    return Stream.suspend(() => {
      const askedAt = now()
      let isFirst = true
      return Stream.map(model.answer(request), (part) => {
        if (isFirst && part._tag !== "Finished") waited(now() - askedAt)
        isFirst = false
        return part
      })
    })
  }
  return { ...model, answer }
}
