/**
 * Answers that a language model begins before it is certain that they are wanted. Nobody sees them: when the same request is made for certain,
 * it takes over the answer with everything received so far; any other request drops it.
 */
import { type Cause, Effect, type Fiber, Queue, Stream } from "effect"
import { isDeepStrictEqual } from "node:util"
import type { LanguageModel, ModelError, ModelPart, ModelRequest } from "#core/model/LanguageModel.ts"

interface Begun {
  readonly request: ModelRequest
  readonly parts: Queue.Queue<ModelPart, ModelError | Cause.Done>
  readonly fiber: Fiber.Fiber<void>
}

export class Foresight {
  readonly #fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  #model: LanguageModel | undefined
  #begun: Begun | undefined

  constructor(fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>) {
    this.#fork = fork
  }

  /** Wraps the model, so that its answers may have been begun before they are asked for. */
  over(model: LanguageModel): LanguageModel {
    this.#model = model
    return { ...model, answer: (request) => Stream.suspend(() => this.#takeOver(request) ?? model.answer(request)) }
  }

  /** Replaces whatever was begun before. */
  begin(request: ModelRequest): void {
    this.drop()
    const model = this.#model
    if (model === undefined) return
    const parts = Effect.runSync(Queue.unbounded<ModelPart, ModelError | Cause.Done>())
    const answer = Stream.suspend(() => model.answer(request))
    // A failure, or an exception of the model, is reported only to a request that takes over the answer.
    const fiber = this.#fork(Effect.asVoid(Effect.exit(Stream.runIntoQueue(answer, parts))))
    this.#begun = { request, parts, fiber }
  }

  drop(): void {
    this.#begun?.fiber.interruptUnsafe()
    this.#begun = undefined
  }

  #takeOver(request: ModelRequest): Stream.Stream<ModelPart, ModelError> | undefined {
    // Variables are extracted alongside the turn.
    if (request.purpose === "extract" || this.#begun === undefined) return undefined
    const { fiber, parts, request: begun } = this.#begun
    if (!isDeepStrictEqual(begun, request)) {
      this.drop()
      return undefined
    }
    this.#begun = undefined
    return Stream.ensuring(
      Stream.fromQueue(parts),
      Effect.sync(() => fiber.interruptUnsafe())
    )
  }
}
