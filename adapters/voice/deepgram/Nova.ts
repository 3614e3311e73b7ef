/**
 * A call that Deepgram's Nova listens to: https://developers.deepgram.com/reference/speech-to-text/listen-streaming. The engine decides when turns end,
 * and asks for the text with `Finalize`.
 */
import type { RecognizerEvent } from "#core/model/SpeechToText.ts"
import { at, numberAt, textAt } from "#adapters/shared/Json.ts"
import { bytesOf } from "#adapters/voice/shared/AudioPieces.ts"
import { finalOf } from "#adapters/voice/shared/finalOf.ts"
import type { ServiceSession } from "#adapters/voice/shared/hostedRecognizer.ts"
import { KeepAlive } from "#adapters/voice/shared/KeepAlive.ts"
import { OwedAnswers } from "#adapters/voice/shared/OwedAnswers.ts"
import type { ServiceSocket } from "#adapters/voice/shared/ServiceSocket.ts"

const frameMillis = 20
const frameBytes = 320
/** `Finalize` is not answered if there was nothing to transcribe. */
const ANSWER_MILLIS = 400
/** The same while something that was said has not been transcribed. */
const SPOKEN_ANSWER_MILLIS = 2500

const keepAlive = JSON.stringify({ type: "KeepAlive" })
const finalize = JSON.stringify({ type: "Finalize" })

export class NovaSession implements ServiceSession {
  readonly #emit: (event: RecognizerEvent) => void
  readonly #socket: ServiceSocket
  readonly #owed = new OwedAnswers(
    () => (this.#isSpoken ? SPOKEN_ANSWER_MILLIS : ANSWER_MILLIS),
    () => this.#answerNothing()
  )
  readonly #alive: KeepAlive
  #millis = 0
  /** Speech has been sent, or a partial text has come, since the last final one. */
  #isSpoken = false
  #isOver = false

  constructor(socket: ServiceSocket, emit: (event: RecognizerEvent) => void, keepAliveMillis: number) {
    this.#socket = socket
    this.#emit = emit
    this.#alive = new KeepAlive(keepAliveMillis, () => socket.send(keepAlive))
    // `KeepAlive` does not help a connection that has never had audio.
    socket.send(new Uint8Array(frameBytes))
  }

  write(samples: Int16Array, isSpeech?: boolean): void {
    this.#millis += frameMillis
    this.#owed.wrote()
    this.#alive.wrote()
    if (isSpeech === true) this.#isSpoken = true
    this.#socket.send(bytesOf(samples).slice())
  }

  finalize(): void {
    if (this.#owed.ask()) this.#socket.send(finalize)
  }

  /** Nova's key terms cannot be changed. */
  hint(): void {}

  close(): void {
    this.#isOver = true
    this.#alive.close()
    this.#owed.close()
  }

  hear(message: unknown): void {
    if (this.#isOver || textAt(message, "type") !== "Results") return
    const found = at(message, "channel", "alternatives")
    const best: unknown = Array.isArray(found) ? found[0] : undefined
    const text = (textAt(best, "transcript") ?? "").trim()
    if (at(message, "is_final") !== true) {
      if (text === "") return
      this.#isSpoken = true
      return this.#emit({ _tag: "Partial", text })
    }
    this.#isSpoken = false
    const isForced = at(message, "from_finalize") === true && this.#owed.settle()
    if (text === "" && !isForced) return
    this.#emit(finalOf(text, this.#spanOf(message, best), isForced, text === "" ? undefined : numberAt(best, "confidence")))
  }

  /** That of the words, if there are any. The service has heard a frame more than was written. */
  #spanOf(message: unknown, best: unknown): readonly [number, number] {
    const words = at(best, "words")
    const [first, last]: ReadonlyArray<unknown> = Array.isArray(words) ? [words[0], words.at(-1)] : []
    const start = numberAt(message, "start") ?? 0
    const from = numberAt(first, "start") ?? start
    const until = numberAt(last, "end") ?? start + (numberAt(message, "duration") ?? 0)
    const within = (seconds: number) => Math.min(Math.max(seconds * 1000 - frameMillis, 0), this.#millis)
    return [within(from), within(until)]
  }

  #answerNothing(): void {
    this.#isSpoken = false
    this.#emit(finalOf("", [this.#millis, this.#millis], true))
  }
}
