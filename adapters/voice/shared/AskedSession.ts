/**
 * A call that a service listens to which is asked for the text when the callee pauses, and gives it in one or more pieces. The audio is sent as mu-law at
 * 8 kHz.
 */
import { encode, frameMillis, frameSize, silence } from "#core/audio/Mulaw.ts"
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"
import { AudioPieces } from "./AudioPieces.ts"
import { finalOf } from "./finalOf.ts"
import type { ServiceSession } from "./hostedRecognizer.ts"
import { KeepAlive } from "./KeepAlive.ts"
import { OwedAnswers } from "./OwedAnswers.ts"
import type { ServiceSocket } from "./ServiceSocket.ts"
import { SpokenSpans } from "./SpokenSpans.ts"

/** Smaller pieces cost the services, and this machine, more than they gain. */
const pieceFrames = 5
/** What a connection is kept alive with. */
const quietFrame = new Uint8Array(frameSize).fill(silence)

/** Has the meanings of the service's messages. */
export interface TextEar {
  /** Replaces what followed the final text. */
  readonly partial: (text: string) => void
  /** Continues the final text as it is: spaces between words are part of it. */
  readonly final: (text: string) => void
  /** The text is complete. */
  readonly answered: () => void
  /** There will be no text for what was asked last: the audio is kept for the next time. */
  readonly unanswered: () => void
}

interface Said {
  readonly text: string
  readonly span: readonly [fromMillis: number, untilMillis: number]
}

interface Asking {
  readonly pieceOf: (audio: Uint8Array) => string | Uint8Array
  /** Asks for the text of the audio so far. */
  readonly question: string
  /** After how long without audio silence is sent. */
  readonly quietMillis: number
  /** How long the service may take to answer if nobody seems to have spoken, and if somebody has. */
  readonly patienceMillis: { readonly unspoken: number; readonly spoken: number }
  readonly hear: (message: unknown, ear: TextEar) => void
}

export class AskedSession implements ServiceSession, TextEar {
  readonly #socket: ServiceSocket
  readonly #emit: (event: RecognizerEvent) => void
  readonly #asking: Asking
  readonly #spans = new SpokenSpans()
  readonly #pieces = new AudioPieces(pieceFrames * frameSize, (piece) => this.#socket.send(this.#asking.pieceOf(piece)))
  readonly #owed = new OwedAnswers(
    () => this.#asking.patienceMillis[this.#spans.isAwaited || this.#isHeard ? "spoken" : "unspoken"],
    () => this.#tell(this.#take(), true)
  )
  readonly #alive: KeepAlive
  #text = ""
  /** Some text has come since the last answer. */
  #isHeard = false
  #isOver = false

  constructor(socket: ServiceSocket, emit: (event: RecognizerEvent) => void, asking: Asking) {
    this.#socket = socket
    this.#emit = emit
    this.#asking = asking
    this.#alive = new KeepAlive(asking.quietMillis, () => this.#keepAlive())
  }

  write(samples: Int16Array, isSpeech?: boolean): void {
    this.#spans.wrote(samples, frameMillis, isSpeech)
    this.#owed.wrote()
    this.#alive.wrote()
    this.#pieces.push(encode(samples))
  }

  finalize(): void {
    this.#pieces.flush()
    if (!this.#owed.ask()) return
    this.#spans.asked()
    this.#socket.send(this.#asking.question)
  }

  /** The terms of these services are set when they are connected to. */
  hint(): void {}

  close(): void {
    this.#isOver = true
    this.#alive.close()
    this.#owed.close()
  }

  hear(message: unknown): void {
    if (!this.#isOver) this.#asking.hear(message, this)
  }

  partial(text: string): void {
    const whole = (this.#text + text).trim()
    if (whole === "") return
    this.#isHeard = true
    this.#emit({ _tag: "Partial", text: whole })
  }

  final(text: string): void {
    this.#text += text
    if (text.trim() !== "") this.#isHeard = true
  }

  answered(): void {
    const taken = this.#take()
    this.#tell(taken, this.#owed.settle())
  }

  /** With several answers owed, the ones before it come first; then it is made up like any other that does not come. */
  unanswered(): void {
    if (this.#owed.count !== 1 || !this.#owed.settle()) return
    this.#tell({ text: "", span: [this.#spans.millis, this.#spans.millis] }, true)
  }

  /** The text so far, which is over. */
  #take(): Said {
    const text = this.#text.trim()
    this.#text = ""
    this.#isHeard = false
    const span = this.#spans.next()
    return { text, span }
  }

  #tell({ span, text }: Said, isForced: boolean): void {
    if (text !== "" || isForced) this.#emit(finalOf(text, span, isForced))
  }

  #keepAlive(): void {
    this.#pieces.push(quietFrame)
    this.#pieces.flush()
  }
}
