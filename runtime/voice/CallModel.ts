/**
 * The language model of a call: opened on or before its first request, and again if that failed. Its answers are counted, and timed if a callee waits for
 * them. One may be begun before it is certain that it is wanted. Nobody sees it: when the same request is made for certain, it takes over the answer with
 * everything received so far; any other request drops it.
 */
import { type Cause, Effect, type Fiber, Queue, Scope, Semaphore, Stream } from "effect"
import { isDeepStrictEqual } from "node:util"
import { type LanguageModel, ModelError, type ModelPart, type ModelRequest, type OpenLanguageModel } from "#core/model/LanguageModel.ts"
import { firstTokenTimed } from "#runtime/conversation/firstToken.ts"
import { TokenCount } from "#runtime/conversation/TokenCount.ts"

const faulty = new ModelError({ reason: "broken", isRetryable: false, message: "the model has a fault" })

interface CallModelPorts {
  /** The model lives as long as this. */
  readonly scope: Scope.Scope
  readonly fork: (work: Effect.Effect<void>) => Fiber.Fiber<void>
  readonly now: () => number
  /** A callee has waited this long for the first piece of an answer. */
  readonly waited: (millis: number) => void
}

interface Begun {
  readonly request: ModelRequest
  readonly parts: Queue.Queue<ModelPart, ModelError | Cause.Done>
  readonly fiber: Fiber.Fiber<void>
}

export class CallModel implements LanguageModel {
  readonly #ports: CallModelPorts
  /** Of all answers, including dropped ones and those that nobody waits for. */
  readonly tokens = new TokenCount()
  #opened: LanguageModel | undefined
  #begun: Begun | undefined
  readonly open: Effect.Effect<LanguageModel, ModelError>

  constructor(opening: OpenLanguageModel, ports: CallModelPorts) {
    this.#ports = ports
    const opened = Effect.suspend(() => (this.#opened === undefined ? Scope.provide(opening, ports.scope) : Effect.succeed(this.#opened)))
    this.open = opened.pipe(
      Effect.catchDefect(() => Effect.fail(faulty)),
      Effect.tap((model) => Effect.sync(() => void (this.#opened = model))),
      Semaphore.makeUnsafe(1).withPermits(1)
    )
  }

  get provider(): string {
    return this.#opened?.provider ?? "none"
  }
  get model(): string {
    return this.#opened?.model ?? "none"
  }
  /** The model itself, if its answers are free. Undefined until it is open. */
  get free(): LanguageModel | undefined {
    return this.#opened?.isFree === true ? this.#opened : undefined
  }

  readonly answer: LanguageModel["answer"] = (request) =>
    Stream.unwrap(
      Effect.map(this.open, (model) => {
        const parts = this.#takenOver(request) ?? this.tokens.counted(model, request)
        return firstTokenTimed(request, parts, this.#ports.now, this.#ports.waited)
      })
    )

  /** Begins the answer to a request that may be made soon. It replaces whatever was begun before. */
  begin(request: ModelRequest): void {
    this.drop()
    if (this.#opened === undefined) return
    const parts = Effect.runSync(Queue.unbounded<ModelPart, ModelError | Cause.Done>())
    const answer = this.tokens.counted(this.#opened, request)
    // A failure, or an exception of the model, is reported only to a request that takes over the answer.
    const fiber = this.#ports.fork(Effect.asVoid(Effect.exit(Stream.runIntoQueue(answer, parts))))
    this.#begun = { request, parts, fiber }
  }

  /** Drops the answer that was begun. */
  drop(): void {
    this.#begun?.fiber.interruptUnsafe()
    this.#begun = undefined
  }

  #takenOver(request: ModelRequest): Stream.Stream<ModelPart, ModelError> | undefined {
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
