/** A recognizer of a service that transcribes what it is posted: each passage is a request. It has no partial texts. */
import { Effect, FiberSet, type Scope } from "effect"
import type { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { timedOut } from "./modelErrors.ts"
import { PassageSession } from "./PassageSession.ts"

/** The text of a passage, which is frames of PCM16 at 8 kHz. Empty if nothing was said after all. */
export type Transcribe = (frames: ReadonlyArray<Int16Array>, hints: RecognizerHints) => Effect.Effect<string, ModelError>

interface Settings {
  readonly transcribe: Transcribe
  /** A text that has not come by then fails the session. This also bounds how many requests are under way. */
  readonly patienceMillis: number
}

/** What is under way is interrupted with the scope. */
export const openPosted = (
  settings: Settings,
  hints: RecognizerHints,
  emit: (event: RecognizerEvent) => void
): Effect.Effect<RecognizerSession, never, Scope.Scope> =>
  Effect.gen(function* () {
    const run = yield* FiberSet.makeRuntime<never, void, never>()
    return yield* Effect.acquireRelease(
      Effect.sync(() => new PostedPassages({ ...settings, run }, hints, emit)),
      (session) => Effect.sync(() => session.close())
    )
  })

interface Running extends Settings {
  readonly run: (effect: Effect.Effect<void>) => unknown
}

class PostedPassages extends PassageSession {
  readonly #settings: Running
  #hints: RecognizerHints
  #frames: Array<Int16Array> = []

  constructor(settings: Running, hints: RecognizerHints, emit: (event: RecognizerEvent) => void) {
    super(emit, settings.patienceMillis)
    this.#settings = settings
    this.#hints = hints
  }

  hint(hints: RecognizerHints): void {
    this.#hints = hints
  }

  protected pass(samples: Int16Array): void {
    this.#frames.push(samples)
  }

  protected drop(): void {
    this.#frames = []
  }

  protected ask(tell: (text: string) => void): void {
    const text = this.#settings.transcribe(this.#frames, this.#hints)
    this.#frames = []
    this.#settings.run(Effect.match(text, { onSuccess: tell, onFailure: (error) => this.#fail(error) }))
  }

  protected late(): void {
    this.#fail(timedOut("the text was not there"))
  }

  #fail(error: ModelError): void {
    if (this.isOver) return
    this.close()
    this.emit({ _tag: "Failed", error })
  }
}
