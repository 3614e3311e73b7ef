/**
 * Answers that a language model begins before it is certain that they are wanted. Nobody is told anything of them: the same request, once it is made for
 * certain, takes over the answer with all that has come of it, and any other drops it.
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

  /** The model, whose answers may have been begun before they are asked for. */
  over(model: LanguageModel): LanguageModel {
    this.#model = model
    return { ...model, answer: (request) => Stream.suspend(() => this.#takeOver(request) ?? model.answer(request)) }
  }

  /** In place of what was begun before. */
  begin(request: ModelRequest): void {
    this.drop()
    const model = this.#model
    if (model === undefined) return
    const parts = Effect.runSync(Queue.unbounded<ModelPart, ModelError | Cause.Done>())
    const answer = Stream.suspend(() => model.answer(request))
    // A failure, or what a model throws, is told to whoever takes the answer over; to nobody else.
    const fiber = this.#fork(Effect.asVoid(Effect.exit(Stream.runIntoQueue(answer, parts))))
    this.#begun = { request, parts, fiber }
  }

  drop(): void {
    this.#begun?.fiber.interruptUnsafe()
    this.#begun = undefined
  }

  #takeOver(request: ModelRequest): Stream.Stream<ModelPart, ModelError> | undefined {
    // Variables are extracted beside the turn.
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
