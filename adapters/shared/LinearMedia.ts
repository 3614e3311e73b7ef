/**
 * The media protocol of carriers that send uncompressed audio: binary messages of signed 16-bit samples, little-endian, at 8 kHz, and JSON text
 * messages with each carrier's own names. The carrier sends a message before the first audio, and ends by closing the socket.
 */
import { decodeSample, encodeSample, frameSize } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import { CarrierStream } from "./CarrierStream.ts"
import { parseBytes, textAt } from "./Json.ts"
import type { MarkTime } from "./MediaMarks.ts"

/** One carrier's variant. */
export interface LinearDialect {
  /** The `event` of the message that begins the stream, which announces the format. */
  readonly start: string
  /** Whether the carrier starts the stream only once the callee has answered, so that a stream shows the answer. */
  readonly isAnswered?: true
  /** In a message with this `event`: the key that was pressed. */
  readonly pressed: { readonly event: string; readonly digitIn: (message: unknown) => string | undefined }
  /** In a message with this `event`: the id of the mark that was played. */
  readonly played: { readonly event: string; readonly idIn: (message: unknown) => string | undefined }
  readonly clear: () => object
  readonly mark: (id: string) => object
}

/** The format that we request and the carrier announces. */
export const linearContentType = "audio/l16;rate=8000"

/**
 * Vonage, which connects the callee to the stream once they have answered, and whose streams end without a message.
 * https://developer.vonage.com/en/voice/voice-api/guides/websockets
 */
export const vonageDialect: LinearDialect = {
  start: "websocket:connected",
  isAnswered: true,
  // Some bridges put the key one level deeper.
  pressed: { event: "websocket:dtmf", digitIn: (message) => textAt(message, "digit") ?? textAt(message, "dtmf", "digit") },
  played: { event: "websocket:notify", idIn: (message) => textAt(message, "payload", "id") },
  clear: () => ({ action: "clear" }),
  mark: (id) => ({ action: "notify", payload: { id } })
}

export const linearMedia =
  ({ clear, isAnswered, mark, played, pressed, start }: LinearDialect, time?: MarkTime): AcceptMedia =>
  (_, socket, onEvent) => {
    const frame = (audio: Uint8Array) => socket.sendBytes(linearOf(audio))
    const stream = new CarrierStream(socket, { clear, frame, mark }, onEvent, time)
    let hasStarted = false
    const hear = (audio: Uint8Array) => {
      if (hasStarted) stream.hear(audio)
    }
    const take = (message: unknown): MediaStream | undefined => {
      const event = textAt(message, "event")
      if (event === undefined) throw new Error("not a message of the protocol")
      if (event === pressed.event) stream.pressed(pressed.digitIn(message) ?? "")
      if (event === played.event) stream.played(played.idIn(message) ?? "")
      // Other events are only informative. The stream of a socket starts once.
      if (hasStarted || event !== start) return undefined
      if (textAt(message, "content-type") !== linearContentType) throw new Error("the carrier sends another format than it was asked for")
      hasStarted = true
      if (isAnswered === true) onEvent({ _tag: "Answered" })
      return stream
    }
    return {
      message: (data, isText) => (isText ? take(parseBytes(data)) : void hearLinear(data, hear)),
      closed: (how, why) => stream.closed(how, why)
    }
  }

// Shared by all calls: messages are read and written one after the other, and nothing of them is retained.
const heard = new Uint8Array(frameSize)
const spoken = new Uint8Array(2 * frameSize)

/** Converts a frame of mu-law. */
const linearOf = (frame: Uint8Array): Uint8Array => {
  for (let at = 0; at < frameSize; at++) {
    const sample = decodeSample(frame[at] ?? 0)
    spoken[2 * at] = sample
    spoken[2 * at + 1] = sample >> 8
  }
  return spoken
}

/** Passes a message to `hear` as mu-law, in pieces of at most one frame. */
const hearLinear = (linear: Uint8Array, hear: (audio: Uint8Array) => void): void => {
  if (linear.length % 2 !== 0) throw new Error("half a sample")
  const samples = linear.length / 2
  for (let from = 0; from < samples; from += frameSize) {
    const count = Math.min(frameSize, samples - from)
    for (let at = 0; at < count; at++) {
      const low = 2 * (from + at)
      heard[at] = encodeSample((linear[low] ?? 0) | ((linear[low + 1] ?? 0) << 8))
    }
    hear(count === frameSize ? heard : heard.subarray(0, count))
  }
}
