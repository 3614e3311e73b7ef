/**
 * The media protocol of carriers that send audio as it is: binary messages of signed 16-bit samples, little-endian, at 8 kHz, beside text messages in
 * JSON, each carrier with its own words. The carrier says something before the first audio; it stops by closing the socket.
 */
import { decodeSample, encodeSample, frameSize } from "#core/audio/Mulaw.ts"
import type { MediaStream } from "#core/provider/Media.ts"
import type { AcceptMedia } from "#core/provider/MediaSocket.ts"
import { CarrierStream } from "./CarrierStream.ts"
import { parseBytes } from "./Json.ts"
import type { MarkTime } from "./MediaMarks.ts"

/** How one carrier puts it. */
export interface LinearDialect {
  /** Whether a message begins the stream; throws if it announces another format. */
  readonly isStart: (message: unknown) => boolean
  /** The key that was pressed, and the id of the mark that was played; undefined in other messages. Throws if it is no message of the protocol. */
  readonly told: (message: unknown) => { readonly pressed?: string | undefined; readonly played?: string | undefined }
  readonly clear: () => object
  readonly mark: (id: string) => object
}

export const linearMedia =
  ({ clear, isStart, mark, told }: LinearDialect, time?: MarkTime): AcceptMedia =>
  (_, socket, onEvent) => {
    const frame = (audio: Uint8Array) => socket.sendBytes(linearOf(audio))
    const stream = new CarrierStream(socket, { clear, frame, mark }, onEvent, time)
    let hasStarted = false
    const hear = (audio: Uint8Array) => {
      if (hasStarted) stream.hear(audio)
    }
    const take = (message: unknown): MediaStream | undefined => {
      const { played, pressed } = told(message)
      if (pressed !== undefined) stream.pressed(pressed)
      if (played !== undefined) stream.played(played)
      // The stream of a socket starts once.
      if (hasStarted || !isStart(message)) return undefined
      hasStarted = true
      return stream
    }
    return {
      message: (data, isText) => (isText ? take(parseBytes(data)) : void hearLinear(data, hear)),
      closed: (how, why) => stream.closed(how, why)
    }
  }

// Shared by all calls: messages are read and written one after the other, and nothing is kept of them.
const heard = new Uint8Array(frameSize)
const spoken = new Uint8Array(2 * frameSize)

/** A frame of mu-law. */
const linearOf = (frame: Uint8Array): Uint8Array => {
  for (let at = 0; at < frameSize; at++) {
    const sample = decodeSample(frame[at] ?? 0)
    spoken[2 * at] = sample
    spoken[2 * at + 1] = sample >> 8
  }
  return spoken
}

/** Gives a message to `hear` in mu-law, in pieces of at most one frame. */
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
