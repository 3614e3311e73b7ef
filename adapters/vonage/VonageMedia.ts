/**
 * The audio of a call through Vonage: binary messages of 20 ms in signed 16-bit samples, little-endian, at 8 kHz; anything else is text. The stream
 * stops without a word. https://developer.vonage.com/en/voice/voice-api/guides/websockets
 */
import { MediaEar } from "#adapters/shared/MediaEar.ts"
import { MediaMarks, type MarkTime } from "#adapters/shared/MediaMarks.ts"
import { parse, textAt } from "#adapters/shared/Json.ts"
import { decodeSample, encodeSample, frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { MediaEnd, MediaListener, MediaStream } from "#core/provider/Media.ts"
import type { AcceptMedia, MediaProtocol, MediaSocket } from "#core/provider/MediaSocket.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"

export const contentType = `audio/l16;rate=${sampleRate}`

export const vonageMedia =
  (time?: MarkTime): AcceptMedia =>
  (_, socket, onEvent) =>
    new VonageMedia(socket, onEvent, time)

// Shared by all calls: messages are read and written one after the other, and nothing is kept of them.
const heard = new Uint8Array(frameSize)
const spoken = new Uint8Array(2 * frameSize)

class VonageMedia implements MediaProtocol, MediaStream {
  readonly #socket: MediaSocket
  readonly #onEvent: (event: TrunkEvent) => void
  readonly #ear = new MediaEar()
  readonly #marks: MediaMarks
  #isConnected = false

  constructor(socket: MediaSocket, onEvent: (event: TrunkEvent) => void, time?: MarkTime) {
    this.#socket = socket
    this.#onEvent = onEvent
    this.#marks = new MediaMarks({
      report: (name, how) => this.#ear.marked(name, how),
      send: (id) => this.#say({ action: "notify", payload: { id } }),
      ...(time === undefined ? {} : { time })
    })
  }

  message(data: Uint8Array, isText: boolean): MediaStream | undefined {
    if (isText) return this.#event(parse(Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString()))
    if (data.length % 2 !== 0) throw new Error("half a sample")
    if (this.#isConnected) this.#hear(data)
    return undefined
  }

  closed(how: MediaEnd, why: string): void {
    this.#marks.close()
    this.#ear.close(how, why)
  }

  send(frame: Uint8Array): boolean {
    if (frame.length !== frameSize || !this.#ear.isOpen()) return false
    for (let at = 0; at < frameSize; at++) {
      const sample = decodeSample(frame[at] ?? 0)
      spoken[2 * at] = sample
      spoken[2 * at + 1] = sample >> 8
    }
    const isSent = this.#socket.sendBytes(spoken)
    if (isSent) this.#marks.sent()
    return isSent
  }

  /** Vonage keeps the time of what it plays. */
  skip(): void {}

  clear(): void {
    if (!this.#ear.isOpen()) return
    this.#say({ action: "clear" })
    this.#marks.clear()
  }

  mark(name: string): boolean {
    return this.#ear.isOpen() && this.#marks.mark(name)
  }

  listen(listener: MediaListener): void {
    this.#ear.listen(listener)
  }

  #event(message: unknown): MediaStream | undefined {
    const event = textAt(message, "event")
    if (event === undefined) throw new Error("not a message of the protocol")
    if (event === "websocket:connected") return this.#connect(textAt(message, "content-type"))
    // Some bridges put the key one level deeper.
    if (event === "websocket:dtmf") this.#press(textAt(message, "digit") ?? textAt(message, "dtmf", "digit") ?? "")
    else if (event === "websocket:notify") this.#marks.told(textAt(message, "payload", "id") ?? "")
    // Others are for information, such as `websocket:cleared`.
    return undefined
  }

  /** A socket is connected once. */
  #connect(type: string | undefined): MediaStream | undefined {
    if (this.#isConnected) return undefined
    if (type !== contentType) throw new Error("Vonage sends another format than it was asked for")
    this.#isConnected = true
    return this
  }

  #hear(data: Uint8Array): void {
    const samples = data.length / 2
    for (let from = 0; from < samples; from += frameSize) {
      const count = Math.min(frameSize, samples - from)
      for (let at = 0; at < count; at++) {
        const low = 2 * (from + at)
        heard[at] = encodeSample((data[low] ?? 0) | ((data[low + 1] ?? 0) << 8))
      }
      this.#ear.hear(count === frameSize ? heard : heard.subarray(0, count))
    }
  }

  #press(digit: string): void {
    if (/^[0-9*#A-D]$/.test(digit)) this.#onEvent({ _tag: "Dtmf", digit })
  }

  #say(message: object): boolean {
    return this.#socket.sendText(JSON.stringify(message))
  }
}
