/**
 * What a call is heard with: a session of its recognizer, and the next one when that fails. Audio is written and finalized where it arrives, whether
 * there is a session or not: what the callee says while one is being opened is kept for it, and of what is lost it is told that it was not understood.
 */
import { Deferred, Effect, type Scope } from "effect"
import { frameMillis, frameSize } from "#core/audio/Mulaw.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"

/** Two seconds: who has said more than that cannot be answered in time any more. */
const mostKeptFrames = 100
const openTimeout = "10 seconds"
/** Failures in a row; a text that was understood ends the row. */
const mostFailures = 5
const againMillis = 250

interface Hearing extends RecognizerSession {
  /** Opens sessions until the scope is closed, or it is in vain. Never fails. */
  readonly run: Effect.Effect<void>
  /** How much audio the recognizer was given. */
  readonly seconds: () => number
}

const tooSlow = new ModelError({ reason: "timeout", isRetryable: true, message: "the recognizer was not ready in time" })
const faulty = new ModelError({ reason: "broken", isRetryable: true, message: "the recognizer has a fault" })
const lost = (isForced: boolean): RecognizerEvent => ({
  _tag: "Final",
  text: "",
  fromMillis: 0,
  untilMillis: 0,
  isForced,
  isAnswer: false,
  isUnclear: true,
  confidence: undefined
})

export const makeHearing = (recognizer: SpeechToText, first: RecognizerHints, emit: (event: RecognizerEvent) => void): Hearing =>
  new Sessions(recognizer, first, emit)

class Sessions implements Hearing {
  readonly #recognizer: SpeechToText
  readonly #emit: (event: RecognizerEvent) => void
  #hints: RecognizerHints
  #session: RecognizerSession | undefined
  /** Of the present session: makes way for the next. */
  #fail: ((error: ModelError) => void) | undefined
  /** What is kept for the next session. */
  #kept: Array<Int16Array> = []
  /** Not all was kept. */
  #isCut = false
  /** To so many answers belongs what was not kept. */
  #cut = 0
  /** How many answers to `finalize` are still to come. */
  #owed = 0
  #failures = 0
  /** No session will be opened any more. */
  #isDeaf = false
  #frames = 0

  constructor(recognizer: SpeechToText, first: RecognizerHints, emit: (event: RecognizerEvent) => void) {
    this.#recognizer = recognizer
    this.#hints = first
    this.#emit = emit
  }

  write(samples: Int16Array, isSpeech?: boolean): void {
    if (this.#session !== undefined) return this.#use((session) => this.#writeTo(session, samples, isSpeech))
    if (this.#kept.length >= mostKeptFrames) {
      this.#kept.shift()
      this.#isCut = true
    }
    this.#kept.push(samples.slice(0, frameSize))
  }

  finalize(): void {
    this.#owed++
    if (this.#isDeaf) return this.#answer()
    this.#use((session) => session.finalize())
  }

  hint(hints: RecognizerHints): void {
    this.#hints = hints
    this.#use((session) => session.hint(hints))
  }

  seconds(): number {
    return (this.#frames * frameMillis) / 1000
  }

  readonly run: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (!this.#isDeaf) {
      const error = yield* Effect.flip(Effect.scoped(this.#listen))
      const { isRetryable, message, reason } = error
      const { model, provider } = this.#recognizer
      yield* Effect.logWarning("a recognizer failed", { reason, message, provider, model })
      this.#isDeaf = !isRetryable || ++this.#failures >= mostFailures
      this.#session = undefined
      this.#kept = []
      // Whatever the callee is saying just now.
      this.#emit(lost(false))
      this.#answer()
      if (!this.#isDeaf) yield* Effect.sleep(againMillis * (this.#failures - 1))
    }
  })

  /** Until the session fails. */
  readonly #listen: Effect.Effect<never, ModelError, Scope.Scope> = Effect.gen({ self: this }, function* () {
    const over = yield* Deferred.make<never, ModelError>()
    const fail = (error: ModelError) => void Deferred.doneUnsafe(over, Effect.fail(error))
    let isOpen = true
    yield* Effect.addFinalizer(() => Effect.sync(() => void (isOpen = false)))
    const session = yield* this.#recognizer
      .open(this.#hints, (event) => {
        if (!isOpen) return
        if (event._tag === "Failed") fail(event.error)
        else this.#heard(event)
      })
      .pipe(
        Effect.timeoutOrElse({ duration: openTimeout, orElse: () => Effect.fail(tooSlow) }),
        Effect.catchDefect(() => Effect.fail(faulty))
      )
    this.#session = session
    this.#fail = fail
    this.#cut = this.#isCut ? this.#owed : 0
    this.#isCut = false
    this.#use((opened) => {
      for (const frame of this.#kept.splice(0)) this.#writeTo(opened, frame)
      for (let left = this.#owed; left > 0; left--) opened.finalize()
    })
    return yield* Deferred.await(over)
  })

  #heard(event: RecognizerEvent): void {
    if (event._tag !== "Final") return this.#emit(event)
    const { isForced, text } = event
    if (text !== "") this.#failures = 0
    const isLost = isForced && this.#cut > 0 && text === ""
    if (isForced) {
      this.#owed = Math.max(0, this.#owed - 1)
      this.#cut = Math.max(0, this.#cut - 1)
    }
    this.#emit(isLost ? { ...event, isUnclear: true } : event)
  }

  #writeTo(session: RecognizerSession, samples: Int16Array, isSpeech?: boolean): void {
    this.#frames++
    session.write(samples, isSpeech)
  }

  /** A session that throws has failed: the line that it is called from must go on. */
  #use(act: (session: RecognizerSession) => void): void {
    if (this.#session === undefined) return
    try {
      act(this.#session)
    } catch {
      this.#session = undefined
      this.#fail?.(faulty)
    }
  }

  /** Nobody else will answer. */
  #answer(): void {
    while (this.#owed > 0) {
      this.#owed--
      this.#emit(lost(true))
    }
  }
}
