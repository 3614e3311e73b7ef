/**
 * Counts the tokens of a language model's answers. A service reports them at the end of each answer, so it reports none for an answer that is
 * dropped earlier, although it bills what it has read and written by then. Those are estimated, in proportion to the characters of the answers
 * with reported tokens; until one has been reported, the estimate is zero. An answer that fails is not counted.
 */
import { Effect, Exit, Stream } from "effect"
import { type LanguageModel, type ModelPart, type ModelRequest, type ModelUsage, noTokens } from "#core/model/LanguageModel.ts"

interface Characters {
  readonly prompt: number
  readonly completion: number
}

const none: Characters = { prompt: 0, completion: 0 }
const promptOf = ({ instructions, messages, tools }: ModelRequest): number => JSON.stringify([instructions, messages, tools]).length
const completionOf = (part: ModelPart): number => {
  switch (part._tag) {
    case "Text":
      return part.text.length
    case "ToolCall":
      return JSON.stringify([part.call.name, part.call.arguments]).length
    case "Finished":
      return 0
  }
}
const both = (one: Characters, other: Characters): Characters => ({
  prompt: one.prompt + other.prompt,
  completion: one.completion + other.completion
})
const inProportion = (characters: number, tokens: number, told: number): number =>
  told === 0 ? 0 : Math.round((characters * tokens) / told)

export class TokenCount {
  #told: ModelUsage = noTokens
  /** Characters of the answers whose tokens were reported. */
  #toldCharacters = none
  #dropped = none

  /** The model's answer. It is counted. */
  counted(model: Pick<LanguageModel, "answer">, request: ModelRequest): ReturnType<LanguageModel["answer"]> {
    return Stream.suspend(() => {
      const prompt = promptOf(request)
      let completion = 0
      let isFinished = false
      const parts = Stream.map(model.answer(request), (part) => {
        completion += completionOf(part)
        if (part._tag === "Finished" && !isFinished) {
          isFinished = true
          this.#finished(part.usage, { prompt, completion })
        }
        return part
      })
      return Stream.onExit(parts, (exit) =>
        Effect.sync(() => {
          if (!isFinished && Exit.hasInterrupts(exit)) this.#dropped = both(this.#dropped, { prompt, completion })
        })
      )
    })
  }

  /** All tokens so far. */
  used(): ModelUsage {
    const { cachedTokens, completionTokens, promptTokens } = this.#told
    const { completion, prompt } = this.#toldCharacters
    return {
      promptTokens: promptTokens + inProportion(this.#dropped.prompt, promptTokens, prompt),
      completionTokens: completionTokens + inProportion(this.#dropped.completion, completionTokens, completion),
      cachedTokens
    }
  }

  #finished({ cachedTokens, completionTokens, promptTokens }: ModelUsage, characters: Characters): void {
    this.#told = {
      promptTokens: this.#told.promptTokens + promptTokens,
      completionTokens: this.#told.completionTokens + completionTokens,
      cachedTokens: this.#told.cachedTokens + cachedTokens
    }
    this.#toldCharacters = both(this.#toldCharacters, characters)
  }
}
