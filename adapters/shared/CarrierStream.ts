/** The audio of a call on a carrier's media socket, whatever its protocol. */
import { frameSize } from "#core/audio/Mulaw.ts"
import type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { MediaEar } from "./MediaEar.ts"
import { MediaMarks, type MarkTime } from "./MediaMarks.ts"

/** Our messages in this protocol; only used once the carrier has started the stream. */
interface Words {
  /** Sends one frame. False: there is no room for it. */
  readonly frame: (frame: Uint8Array) => boolean
  readonly clear: () => object
  readonly mark: (id: string) => object
}

export class CarrierStream implements MediaStream {
  readonly #socket: MediaSocket
  readonly #words: Words
  readonly #onEvent: (event: TrunkEvent) => void
  readonly #ear = new MediaEar()
  readonly #marks: MediaMarks

  constructor(socket: MediaSocket, words: Words, onEvent: (event: TrunkEvent) => void, time: MarkTime | undefined) {
    this.#socket = socket
    this.#words = words
    this.#onEvent = onEvent
    this.#marks = new MediaMarks({
      report: (name, how) => this.#ear.marked(name, how),
      send: (id) => this.#say(words.mark(id)),
      ...(time === undefined ? {} : { time })
    })
  }

  send(frame: Uint8Array): boolean {
    if (frame.length !== frameSize || !this.#ear.isOpen()) return false
    const isSent = this.#words.frame(frame)
    if (isSent) this.#marks.sent()
    return isSent
  }

  /** The carrier itself keeps the timing of what it plays. */
  skip(): void {}

  clear(): void {
    if (!this.#ear.isOpen()) return
    this.#say(this.#words.clear())
    this.#marks.clear()
  }

  mark(name: string): boolean {
    return this.#ear.isOpen() && this.#marks.mark(name)
  }

  listen(listener: MediaListener): void {
    this.#ear.listen(listener)
  }

  /** Audio in mu-law, in pieces of any size. */
  hear(audio: Uint8Array): void {
    this.#ear.hear(audio)
  }

  /** The carrier says that it has played a mark. */
  played(id: string): void {
    this.#marks.told(id)
  }

  /** Anything but a key is ignored. */
  pressed(digit: string): void {
    if (/^[0-9*#A-D]$/.test(digit)) this.#onEvent({ _tag: "Dtmf", digit })
  }

  /** Nothing is reported after this. */
  closed(how: MediaEnd, why: string): void {
    this.#marks.close()
    this.#ear.close(how, why)
  }

  #say(message: object): boolean {
    return this.#socket.sendText(JSON.stringify(message))
  }
}
