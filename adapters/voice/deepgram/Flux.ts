/**
 * A call that Deepgram's Flux listens to: https://developers.deepgram.com/docs/flux/state. It decides when turns end, from what is said and how, and
 * says earlier when one is about to end.
 */
import { ModelError } from "#core/model/LanguageModel.ts"
import type { RecognizerEvent, RecognizerHints, RecognizerSession } from "#core/model/SpeechToText.ts"
import { matchAt, textAt } from "#adapters/shared/Json.ts"
import { OwedAnswers } from "#adapters/voice/shared/OwedAnswers.ts"
import type { ServiceSocket } from "#adapters/voice/shared/ServiceSocket.ts"
import { finalOf } from "./results.ts"

const frameMillis = 20
const frameBytes = 320
/** Deepgram recommends pieces of 80 ms. */
const pieceFrames = 4
/** A turn can be ended on request, which is not answered if nothing was said in it. */
const ANSWER_MILLIS = 1000

const forceEnd = JSON.stringify({ type: "ForceEndTurn" })

export class FluxSession implements RecognizerSession {
  readonly #emit: (event: RecognizerEvent) => void
  readonly #socket: ServiceSocket
  readonly #termsOf: (hints: RecognizerHints) => ReadonlyArray<string>
  readonly #owed = new OwedAnswers(
    () => ANSWER_MILLIS,
    () => this.#answer()
  )
  readonly #piece = new Uint8Array(frameBytes * pieceFrames)
  #frames = 0
  #millis = 0
  /** Audio has been written since the last request to end a turn. */
  #isNew = false
  #isOver = false
  /** The terms that the service was told last, and whether it has yet to confirm them: it takes one change at a time. */
  #terms: string
  #isChanging = false
  #wanted: string

  constructor(
    socket: ServiceSocket,
    emit: (event: RecognizerEvent) => void,
    hints: RecognizerHints,
    termsOf: (hints: RecognizerHints) => ReadonlyArray<string>
  ) {
    this.#socket = socket
    this.#emit = emit
    this.#termsOf = termsOf
    this.#terms = this.#wanted = JSON.stringify(termsOf(hints))
  }

  write(samples: Int16Array): void {
    this.#millis += frameMillis
    this.#isNew = true
    this.#piece.set(new Uint8Array(samples.buffer, samples.byteOffset, frameBytes), this.#frames * frameBytes)
    if (++this.#frames === pieceFrames) this.#flush()
  }

  finalize(): void {
    if (this.#isOver) return
    if (!this.#isNew && this.#owed.count === 0) return this.#answer()
    this.#flush()
    this.#owed.ask()
    if (this.#isNew) this.#socket.send(forceEnd)
    this.#isNew = false
  }

  hint(hints: RecognizerHints): void {
    this.#wanted = JSON.stringify(this.#termsOf(hints))
    this.#tell()
  }

  close(): void {
    this.#isOver = true
    this.#owed.close()
  }

  /** A message of the service. Unknown ones change nothing. */
  hear(message: unknown): void {
    if (this.#isOver) return
    const type = textAt(message, "type")
    if (type === "TurnInfo") return this.#turn(textAt(message, "event"), (textAt(message, "transcript") ?? "").trim())
    if (type === "ConfigureSuccess" || type === "ConfigureFailure") {
      this.#isChanging = false
      return this.#tell()
    }
    if (type !== "Error") return
    const code = matchAt(message, /^[A-Z_]{1,60}$/, "code") ?? "an error"
    this.#socket.fail(new ModelError({ reason: "broken", isRetryable: true, message: `the service reports ${code}` }))
  }

  #turn(event: string | undefined, text: string): void {
    if (event === "EagerEndOfTurn") this.#emit({ _tag: "EndForeseen", text })
    else if (event === "TurnResumed") this.#emit({ _tag: "EndRevoked" })
    else if (event === "EndOfTurn") {
      this.#emit({ _tag: "EndDeclared", text })
      if (this.#owed.settle()) this.#answer()
    } else if (text !== "") this.#emit({ _tag: "Partial", text })
  }

  /** The text of a turn comes with its end. */
  #answer(): void {
    this.#emit(finalOf("", [this.#millis, this.#millis], true))
  }

  #flush(): void {
    if (this.#frames > 0) this.#socket.send(this.#piece.slice(0, this.#frames * frameBytes))
    this.#frames = 0
  }

  #tell(): void {
    if (this.#isChanging || this.#wanted === this.#terms || this.#isOver) return
    this.#terms = this.#wanted
    this.#isChanging = true
    this.#socket.send(`{"type":"Configure","keyterms":${this.#terms}}`)
  }
}
