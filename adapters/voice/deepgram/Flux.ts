/**
 * A call that Deepgram's Flux listens to: https://developers.deepgram.com/docs/flux/state. It decides when turns end, from what is said and how, and
 * says earlier when one is about to end.
 */
import type { RecognizerEvent, RecognizerHints } from "#core/model/SpeechToText.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { AudioPieces, bytesOf } from "#adapters/voice/shared/AudioPieces.ts"
import { finalOf } from "#adapters/voice/shared/finalOf.ts"
import type { ServiceSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { KeepAlive } from "#adapters/voice/shared/KeepAlive.ts"
import { OwedAnswers } from "#adapters/voice/shared/OwedAnswers.ts"
import type { ServiceSocket } from "#adapters/voice/shared/ServiceSocket.ts"

const frameMillis = 20
const frameBytes = 320
/** Deepgram recommends 80 ms. */
const pieceBytes = 4 * frameBytes
/** A turn can be ended on request, which is not answered if nothing was said in it. */
const ANSWER_MILLIS = 1000

/** Flux knows no `KeepAlive`. */
const quiet = new Uint8Array(pieceBytes)
const forceEnd = JSON.stringify({ type: "ForceEndTurn" })

interface Settings {
  readonly hints: RecognizerHints
  readonly termsOf: (hints: RecognizerHints) => ReadonlyArray<string>
  readonly keepAliveMillis: number
}

export class FluxSession implements ServiceSession {
  readonly #emit: (event: RecognizerEvent) => void
  readonly #socket: ServiceSocket
  readonly #termsOf: (hints: RecognizerHints) => ReadonlyArray<string>
  readonly #owed = new OwedAnswers(
    () => ANSWER_MILLIS,
    () => this.#answer()
  )
  readonly #pieces = new AudioPieces(pieceBytes, (piece) => this.#socket.send(piece))
  readonly #alive: KeepAlive
  #millis = 0
  #isOver = false
  /** The terms that the service was told last, and whether it has yet to confirm them: it takes one change at a time. */
  #terms: string
  #isChanging = false
  #wanted: string

  constructor(socket: ServiceSocket, emit: (event: RecognizerEvent) => void, { hints, keepAliveMillis, termsOf }: Settings) {
    this.#socket = socket
    this.#emit = emit
    this.#termsOf = termsOf
    this.#alive = new KeepAlive(keepAliveMillis, () => socket.send(quiet))
    this.#terms = this.#wanted = JSON.stringify(termsOf(hints))
  }

  write(samples: Int16Array): void {
    this.#millis += frameMillis
    this.#owed.wrote()
    this.#alive.wrote()
    this.#pieces.push(bytesOf(samples))
  }

  finalize(): void {
    this.#pieces.flush()
    if (this.#owed.ask()) this.#socket.send(forceEnd)
  }

  hint(hints: RecognizerHints): void {
    this.#wanted = JSON.stringify(this.#termsOf(hints))
    this.#tell()
  }

  close(): void {
    this.#isOver = true
    this.#alive.close()
    this.#owed.close()
  }

  hear(message: unknown): void {
    if (this.#isOver) return
    const type = textAt(message, "type")
    if (type === "TurnInfo") return this.#turn(textAt(message, "event"), (textAt(message, "transcript") ?? "").trim())
    if (type !== "ConfigureSuccess" && type !== "ConfigureFailure") return
    this.#isChanging = false
    this.#tell()
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

  #tell(): void {
    if (this.#isChanging || this.#wanted === this.#terms || this.#isOver) return
    this.#terms = this.#wanted
    this.#isChanging = true
    this.#socket.send(`{"type":"Configure","keyterms":${this.#terms}}`)
  }
}
