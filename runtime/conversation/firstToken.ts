/** How long a language model takes to begin its answers. */
import { Stream } from "effect"
import type { LanguageModel, ModelRequest } from "#core/model/LanguageModel.ts"

type Answer = ReturnType<LanguageModel["answer"]>

/** The same answer. If a callee waits for it, `waited` is told the time from the request to its first piece. */
export const firstTokenTimed = ({ purpose }: ModelRequest, answer: Answer, now: () => number, waited: (millis: number) => void): Answer => {
  if (purpose === "extract") return answer
  return Stream.suspend(() => {
    const askedAt = now()
    let isFirst = true
    return Stream.map(answer, (part) => {
      if (isFirst && part._tag !== "Finished") waited(now() - askedAt)
      isFirst = false
      return part
    })
  })
}
