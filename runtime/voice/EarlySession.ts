/**
 * The recognizer's session of a call whose phone rings. The answered call takes it over, also while it is still being opened; there is never a second one
 * beside it. If the service closes it before that, another one is opened after a while.
 */
import { Deferred, Effect, type Scope } from "effect"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"

const openTimeout = "10 seconds"
/** Services that close idle sessions do so after ten seconds or more. */
const againAfter = "5 seconds"

const tooSlow = new ModelError({ reason: "timeout", isRetryable: true, message: "the recognizer was not ready in time" })
const faulty = new ModelError({ reason: "broken", isRetryable: false, message: "the recognizer has a fault" })

/** A session that is open or being opened. */
interface Present {
  /** Undefined if it could not be opened. */
  readonly session: Deferred.Deferred<RecognizerSession | undefined>
  /** It has failed, or is no longer needed. */
  readonly over: Deferred.Deferred<void>
}

export class EarlySession {
  readonly #recognizer: SpeechToText
  readonly #hints: RecognizerHints
  readonly #failed: (error: ModelError) => void
  /** Whether the answered call may still take a session. */
  #isWaiting = true
  #present: Present | undefined
  #emit: (event: RecognizerEvent) => void = (event) => {
    if (event._tag === "Failed") this.#lost(event.error)
  }

  /** `failed`: a session could not be opened, or has failed before it was taken. */
  constructor(recognizer: SpeechToText, hints: RecognizerHints, failed: (error: ModelError) => void) {
    this.#recognizer = recognizer
    this.#hints = hints
    this.#failed = failed
  }

  /** Keeps a session open until it is no longer needed, or none can be opened. An interrupt closes it, whoever has it. Never fails. */
  readonly hold: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (this.#isWaiting) {
      yield* Effect.scoped(this.#keep)
      if (this.#isWaiting) yield* Effect.sleep(againAfter)
    }
  }).pipe(Effect.catch((error) => Effect.sync(() => this.#failed(error))))

  /** Undefined if there is none. Its events go to `emit`, and it is closed with the scope. Only the first call can succeed. */
  take(emit: (event: RecognizerEvent) => void): Effect.Effect<RecognizerSession | undefined, never, Scope.Scope> {
    return Effect.suspend(() => {
      const present = this.#isWaiting ? this.#present : undefined
      this.#isWaiting = false
      if (present === undefined) return Effect.undefined
      this.#emit = emit
      return Effect.andThen(
        Effect.addFinalizer(() => Deferred.succeed(present.over, undefined)),
        Deferred.await(present.session)
      )
    })
  }

  /** Closes the session, unless it has been taken. Returns whether there was one. */
  giveUp(): boolean {
    if (!this.#isWaiting) return false
    this.#isWaiting = false
    return this.#drop()
  }

  /** Until the session is over. Fails if it cannot be opened. */
  readonly #keep: Effect.Effect<void, ModelError, Scope.Scope> = Effect.gen({ self: this }, function* () {
    const present: Present = { session: Deferred.makeUnsafe(), over: Deferred.makeUnsafe() }
    this.#present = present
    yield* Effect.addFinalizer(() => {
      if (this.#present === present) this.#present = undefined
      return Deferred.succeed(present.session, undefined)
    })
    const opened = this.#recognizer
      .open(this.#hints, (event) => this.#emit(event))
      .pipe(
        Effect.timeoutOrElse({ duration: openTimeout, orElse: () => Effect.fail(tooSlow) }),
        Effect.catchDefect(() => Effect.fail(faulty))
      )
    const kept = Effect.flatMap(opened, (session) => Effect.andThen(Deferred.succeed(present.session, session), Effect.never))
    yield* Effect.raceFirst(kept, Deferred.await(present.over))
  })

  #lost(error: ModelError): void {
    if (!error.isRetryable || error.reason === "rate_limited") this.#isWaiting = false
    this.#drop()
    this.#failed(error)
  }

  #drop(): boolean {
    const present = this.#present
    this.#present = undefined
    if (present !== undefined) Deferred.doneUnsafe(present.over, Effect.void)
    return present !== undefined
  }
}
