/**
 * A call that Cartesia's Ink listens to, which decides when turns end: https://docs.cartesia.ai/api-reference/stt/turns/websocket. The text of a turn
 * only grows.
 */
import { encode, frameMillis, frameSize, silence } from "#core/audio/Mulaw.ts"
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"
import { textAt } from "#adapters/shared/Json.ts"
import { AudioPieces } from "#adapters/voice/shared/AudioPieces.ts"
import { finalOf } from "#adapters/voice/shared/finalOf.ts"
import type { ServiceSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { KeepAlive } from "#adapters/voice/shared/KeepAlive.ts"
import { OwedAnswers } from "#adapters/voice/shared/OwedAnswers.ts"
import type { ServiceSocket } from "#adapters/voice/shared/ServiceSocket.ts"

/** Cartesia recommends 100 ms. */
const pieceBytes = 5 * frameSize
/** A turn does not end while no audio comes. */
const QUIET_MILLIS = 500
const quiet = new Uint8Array((QUIET_MILLIS / frameMillis) * frameSize).fill(silence)
/** How long it may take until a turn has begun. */
const BEGIN_MILLIS = 1000

export class InkTurns implements ServiceSession {
  readonly #socket: ServiceSocket
  readonly #emit: (event: RecognizerEvent) => void
  readonly #pieces = new AudioPieces(pieceBytes, (piece) => this.#socket.send(piece))
  readonly #owed: OwedAnswers
  readonly #alive = new KeepAlive(QUIET_MILLIS, () => this.#fallSilent())
  #millis = 0
  /** Of the turn that has begun; undefined if none has. */
  #text: string | undefined
  #isOver = false

  /** `turnEndMillis`: how long a turn that has begun may take to end after the callee has fallen silent. */
  constructor(socket: ServiceSocket, emit: (event: RecognizerEvent) => void, turnEndMillis: number) {
    this.#socket = socket
    this.#emit = emit
    this.#owed = new OwedAnswers(
      () => (this.#text === undefined ? BEGIN_MILLIS : QUIET_MILLIS * 2 + turnEndMillis),
      () => this.#answer()
    )
  }

  write(samples: Int16Array): void {
    this.#millis += frameMillis
    this.#owed.wrote()
    this.#alive.wrote()
    this.#pieces.push(encode(samples))
  }

  /** The service cannot be asked: the answer comes with the end of the turn. */
  finalize(): void {
    this.#pieces.flush()
    this.#owed.ask()
  }

  /** The terms are set when the service is connected to. */
  hint(): void {}

  close(): void {
    this.#isOver = true
    this.#alive.close()
    this.#owed.close()
  }

  hear(message: unknown): void {
    if (this.#isOver) return
    const text = (textAt(message, "transcript") ?? "").trim()
    switch (textAt(message, "type")) {
      case "turn.start":
        this.#text = ""
        this.#owed.renew()
        return this.#emit({ _tag: "Partial", text: "" })
      case "turn.update":
        return this.#emit({ _tag: "Partial", text: this.#grown(text) })
      case "turn.eager_end":
        return this.#emit({ _tag: "EndForeseen", text: this.#grown(text) })
      case "turn.resume":
        return this.#emit({ _tag: "EndRevoked" })
      case "turn.end":
        this.#emit({ _tag: "EndDeclared", text: this.#grown(text) })
        this.#text = undefined
        if (this.#owed.settle()) this.#answer()
    }
  }

  /** The turn's text by now. A message without one takes nothing back. */
  #grown(text: string): string {
    this.#text = text === "" ? (this.#text ?? "") : text
    return this.#text
  }

  /** The text of a turn comes with its end. */
  #answer(): void {
    this.#emit(finalOf("", [this.#millis, this.#millis], true))
  }

  /** Before the first audio, while the phone rings, there is no turn to end, and silence would be paid for. */
  #fallSilent(): void {
    if (this.#millis === 0) return
    this.#pieces.flush()
    this.#socket.send(quiet)
  }
}
