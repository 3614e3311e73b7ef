/**
 * What a call is heard with: a session of its recognizer, the next one when that fails, and then another recognizer. Audio is written and finalized
 * where it arrives, whether there is a session or not: what has not been transcribed is given to the next session. Only what no session could
 * transcribe is reported as not understood.
 */
import { Deferred, Effect, type Scope } from "effect"
import { frameMillis } from "#core/audio/Mulaw.ts"
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession, SpeechToText } from "#core/model/SpeechToText.ts"
import type { TurnOptions } from "#core/voice/Turn.ts"
import { KeptAudio } from "./KeptAudio.ts"

const openTimeout = "10 seconds"
/** Failures in a row before another recognizer takes over, and of the last one; a text that was understood ends the row. */
const mostFailures = { replaceable: 2, last: 5 }
/** The same audio may be what a recognizer fails on. */
const mostReplays = 2
const againMillis = 250
/** Four seconds after an answer was asked for, the callee's turn is about to be over without it. */
const mostLateFrames = 4000 / frameMillis

interface Hearing extends RecognizerSession {
  /** Opens sessions until the scope is closed, or it is in vain. Never fails. */
  readonly run: Effect.Effect<void>
  /** How much audio the recognizers were given. */
  readonly seconds: () => number
  /** Of the recognizer that is used now. */
  readonly manner: () => TurnOptions
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

/** The recognizers take over from each other in this order. `failed`: the session of one is over, or could not be opened. */
export const makeHearing = (
  recognizers: readonly [SpeechToText, ...ReadonlyArray<SpeechToText>],
  first: RecognizerHints,
  emit: (event: RecognizerEvent) => void,
  failed: (recognizer: SpeechToText, error: ModelError) => void = () => {}
): Hearing => new Sessions(recognizers, first, emit, failed)

class Sessions implements Hearing {
  #recognizer: SpeechToText
  /** Those that take over. */
  #others: ReadonlyArray<SpeechToText>
  readonly #emit: (event: RecognizerEvent) => void
  readonly #failed: (recognizer: SpeechToText, error: ModelError) => void
  #hints: RecognizerHints
  #session: RecognizerSession | undefined
  /** Of the present session: makes way for the next. */
  #fail: ((error: ModelError) => void) | undefined
  readonly #kept = new KeptAudio()
  /** Something that may have been said is lost, which belongs to the next answer. */
  #isCut = false
  /** For each answer to `finalize` that is still to come, how many frames it is about. */
  #asked: Array<number> = []
  #failures = 0
  /** How many sessions have been given what is kept. */
  #replays = 0
  /** No session will be opened any more. */
  #isDeaf = false
  #frames = 0

  constructor(
    [first, ...others]: readonly [SpeechToText, ...ReadonlyArray<SpeechToText>],
    hints: RecognizerHints,
    emit: (event: RecognizerEvent) => void,
    failed: (recognizer: SpeechToText, error: ModelError) => void
  ) {
    this.#failed = failed
    this.#recognizer = first
    this.#others = others
    this.#hints = hints
    this.#emit = emit
  }

  write(samples: Int16Array, isSpeech?: boolean): void {
    if (this.#isDeaf) return
    this.#isCut = this.#kept.push(samples, isSpeech) || this.#isCut
    this.#use((session) => this.#writeTo(session, samples, isSpeech))
  }

  finalize(): void {
    this.#asked.push(this.#kept.until)
    if (this.#isDeaf) return this.#giveUp()
    this.#use((session) => session.finalize())
  }

  hint(hints: RecognizerHints): void {
    this.#hints = hints
    this.#use((session) => session.hint(hints))
  }

  settle(): void {
    this.#use((session) => session.settle?.())
  }

  seconds(): number {
    return (this.#frames * frameMillis) / 1000
  }

  manner(): TurnOptions {
    return this.#recognizer
  }

  readonly run: Effect.Effect<void> = Effect.gen({ self: this }, function* () {
    while (!this.#isDeaf) {
      const error = yield* Effect.flip(Effect.scoped(this.#listen))
      const { isRetryable, message, reason } = error
      const { model, provider } = this.#recognizer
      yield* Effect.logWarning("a recognizer failed", { reason, message, provider, model })
      this.#failed(this.#recognizer, error)
      this.#session = undefined
      this.#failures++
      const most = this.#others.length > 0 ? mostFailures.replaceable : mostFailures.last
      if (!isRetryable || this.#failures >= most) this.#replace()
      if (this.#isDeaf || this.#replays >= mostReplays) this.#giveUp()
      if (!this.#isDeaf) yield* Effect.sleep(againMillis * Math.max(0, this.#failures - 1))
    }
  })

  /** The next recognizer starts with what this one has left. */
  #replace(): void {
    const [next, ...others] = this.#others
    this.#isDeaf = next === undefined
    if (next === undefined) return
    const hadToEndTurns = this.#recognizer.ownsTurns && !next.ownsTurns
    this.#recognizer = next
    this.#others = others
    this.#failures = 0
    this.#replays = 0
    // Nobody has asked for the text of what was being said.
    if (hadToEndTurns && this.#kept.isVoiced) this.#asked.push(this.#kept.until)
  }

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
    this.#use((opened) => this.#catchUp(opened))
    return yield* Deferred.await(over)
  })

  /** Gives the session everything that has not been transcribed, and asks it what the one before has not answered, unless that comes too late. */
  #catchUp(session: RecognizerSession): void {
    while ((this.#asked[0] ?? Number.POSITIVE_INFINITY) + mostLateFrames <= this.#kept.until) {
      this.#kept.forget(this.#asked.shift() ?? 0)
      this.#emit(lost(true))
    }
    if (this.#kept.isVoiced || this.#asked.length > 0) this.#replays++
    let asked = 0
    const askUntil = (frame: number) => {
      while ((this.#asked[asked] ?? Number.POSITIVE_INFINITY) <= frame) {
        asked++
        session.finalize()
      }
    }
    this.#kept.replay((samples, isSpeech, frame) => {
      askUntil(frame)
      this.#writeTo(session, samples, isSpeech)
    })
    askUntil(this.#kept.until)
  }

  #heard(event: RecognizerEvent): void {
    if (event._tag === "EndDeclared") this.#transcribed(this.#kept.until, event.text)
    if (event._tag !== "Final") return this.#emit(event)
    const { isForced, text } = event
    const asked = isForced ? this.#asked.shift() : this.#asked[0]
    this.#transcribed(asked ?? this.#kept.until, text)
    const isLost = isForced && this.#isCut && text === ""
    if (isForced) this.#isCut = false
    this.#emit(isLost ? { ...event, isUnclear: true } : event)
  }

  #transcribed(until: number, text: string): void {
    if (text !== "") this.#failures = 0
    this.#replays = 0
    this.#kept.forget(until)
  }

  #writeTo(session: RecognizerSession, samples: Int16Array, isSpeech: boolean | undefined): void {
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

  /** Nobody will transcribe what has been said. */
  #giveUp(): void {
    if (this.#kept.isVoiced) this.#emit(lost(false))
    this.#replays = 0
    this.#isCut = false
    this.#kept.forget(this.#kept.until)
    for (const _ of this.#asked.splice(0)) this.#emit(lost(true))
  }
}
