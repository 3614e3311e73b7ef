/**
 * The media protocol of most hosted carriers, each with its own names: JSON text messages with 20 ms of mu-law audio in base64. The carrier
 * sends `start` before the first audio, and ends with `stop` or by closing the socket.
 */
import { frameSize, sampleRate } from "#core/audio/Mulaw.ts"
import type { MediaEnd, MediaStream } from "#core/provider/Media.ts"
import type { AcceptMedia, MediaProtocol, MediaSocket } from "#core/provider/MediaSocket.ts"
import type { CallRef } from "#core/provider/CallRef.ts"
import type { TrunkEvent } from "#core/provider/TrunkEvent.ts"
import { base64Length, decodeBase64, encodeBase64 } from "./base64.ts"
import { CarrierStream } from "./CarrierStream.ts"
import { at, parseBytes, textAt } from "./Json.ts"
import type { MarkTime } from "./MediaMarks.ts"
import { MediaMessage } from "./MediaMessage.ts"

/** One carrier's variant. */
export interface JsonDialect {
  /** In a `start` message: the id that our messages must carry; empty if they carry none. Undefined: it is not a `start` message. */
  readonly streamIdIn: (start: unknown) => string | undefined
  /** Whether the carrier starts the stream only once the callee has answered, so that a stream shows the answer. */
  readonly isAnswered?: true
  /** In a `start` message: the carrier's own id of the call, for carriers whose other events may lack it. */
  readonly callIdIn?: (start: unknown) => string | undefined
  /** The message with this payload. */
  readonly audio: (streamId: string, payload: string) => object
  readonly clear: (streamId: string) => object
  readonly mark: (streamId: string, id: string) => object
  /** In a message with this `event`: the id of the mark that was played. */
  readonly played: { readonly event: string; readonly idIn: (message: unknown) => string | undefined }
}

/**
 * Twilio and Cloudonix, which run the document of the call once it is answered.
 * https://www.twilio.com/docs/voice/api/call-resource#create-a-call-resource
 */
export const streamSidDialect: JsonDialect = {
  isAnswered: true,
  streamIdIn: (start) => textAt(start, "start", "streamSid") ?? textAt(start, "streamSid"),
  audio: (streamSid, payload) => ({ event: "media", streamSid, media: { payload } }),
  clear: (streamSid) => ({ event: "clear", streamSid }),
  mark: (streamSid, name) => ({ event: "mark", streamSid, mark: { name } }),
  played: { event: "mark", idIn: (message) => textAt(message, "mark", "name") }
}

/** Telnyx, which opens the socket while the phone rings and starts the stream at the answer. A socket has one stream, so our messages do not name it. */
export const telnyxDialect: JsonDialect = {
  isAnswered: true,
  streamIdIn: (start) => textAt(start, "stream_id"),
  audio: (_, payload) => ({ event: "media", media: { payload } }),
  clear: () => ({ event: "clear" }),
  mark: (_, name) => ({ event: "mark", mark: { name } }),
  played: { event: "mark", idIn: (message) => textAt(message, "mark", "name") }
}

/** Plivo and Vobiz, which ask for the document of the call once it is answered. A checkpoint that is cleared before it is reached is not reported. */
export const checkpointDialect: JsonDialect = {
  isAnswered: true,
  streamIdIn: (start) => textAt(start, "start", "streamId") ?? textAt(start, "streamId"),
  audio: (_, payload) => ({ event: "playAudio", media: { contentType: "audio/x-mulaw", sampleRate, payload } }),
  clear: (streamId) => ({ event: "clearAudio", streamId }),
  mark: (streamId, name) => ({ event: "checkpoint", streamId, name }),
  played: { event: "playedStream", idIn: (message) => textAt(message, "name") }
}

interface JsonMediaOptions {
  readonly time?: MarkTime
}

export const jsonMedia =
  (dialect: JsonDialect, options: JsonMediaOptions = {}): AcceptMedia =>
  (call, socket, onEvent) =>
    new JsonMedia(dialect, call, socket, onEvent, options)

/** Stands for the payload, to find its place in a message. No id can contain it. */
const PLACE = "the payload"
const isStreamId = (id: string): boolean => /^[!-~]{0,200}$/.test(id)

// Shared by all calls: messages are read one after the other, and nothing of them is retained.
const found = new MediaMessage()
/** Room for the audio of the longest message that the engine accepts. */
const decoded = new Uint8Array(49_152)
const decodedFrame = decoded.subarray(0, frameSize)

type OnEvent = (event: TrunkEvent) => void

class JsonMedia implements MediaProtocol {
  readonly #dialect: JsonDialect
  readonly #call: CallRef
  readonly #onEvent: OnEvent
  readonly #stream: CarrierStream
  #streamId: string | undefined
  /** An audio message with room for the payload of a frame, which begins at `#payloadAt`. */
  #frame: Uint8Array = new Uint8Array(0)
  #payloadAt = 0
  #lastChunk = -1

  constructor(dialect: JsonDialect, call: CallRef, socket: MediaSocket, onEvent: OnEvent, { time }: JsonMediaOptions) {
    this.#dialect = dialect
    this.#call = call
    this.#onEvent = onEvent
    const words = {
      frame: (frame: Uint8Array) => {
        encodeBase64(frame, this.#frame, this.#payloadAt)
        return socket.sendText(this.#frame)
      },
      clear: () => dialect.clear(this.#streamId ?? ""),
      mark: (id: string) => dialect.mark(this.#streamId ?? "", id)
    }
    this.#stream = new CarrierStream(socket, words, onEvent, time)
  }

  message(data: Uint8Array, isText: boolean): MediaStream | undefined {
    if (!isText) throw new Error("a binary message")
    if (!found.read(data)) return this.#event(parseBytes(data))
    if (!found.isInbound || this.#isLate(found.chunk)) return undefined
    this.#hear(decodeBase64(data, found.payloadFrom, found.payloadTo, decoded))
    return undefined
  }

  closed(how: MediaEnd, why: string): void {
    this.#stream.closed(how, why)
  }

  /** Handles everything except audio in the expected form. */
  #event(message: unknown): MediaStream | undefined {
    const event = textAt(message, "event")
    if (event === undefined) throw new Error("not a message of the protocol")
    if (event === "start") return this.#start(message)
    if (event === "media") this.#media(message)
    else if (event === "dtmf") this.#stream.pressed(textAt(message, "dtmf", "digit") ?? "")
    else if (event === "stop") this.#stream.closed("ended", "the carrier stopped the stream")
    else if (event === this.#dialect.played.event) this.#stream.played(this.#dialect.played.idIn(message) ?? "")
    // Other events, such as `connected`, are only informative.
    return undefined
  }

  /** The stream of a socket starts once. */
  #start(message: unknown): MediaStream | undefined {
    const streamId = this.#dialect.streamIdIn(message)
    if (this.#streamId !== undefined) return undefined
    if (streamId === undefined || !isStreamId(streamId)) throw new Error("a start without the id of the stream")
    const format = at(message, "start", "media_format") ?? at(message, "start", "mediaFormat")
    if (!isMulaw(format)) throw new Error("the carrier sends another format than mu-law of 8 kHz")
    this.#streamId = streamId
    const [before = "", after = ""] = JSON.stringify(this.#dialect.audio(streamId, PLACE)).split(PLACE)
    this.#payloadAt = Buffer.byteLength(before)
    this.#frame = Buffer.from(before + " ".repeat(base64Length(frameSize)) + after)
    const providerCallId = this.#dialect.callIdIn?.(message)
    if (providerCallId !== undefined && this.#call.providerCallId === undefined) this.#onEvent({ _tag: "Named", providerCallId })
    if (this.#dialect.isAnswered === true) this.#onEvent({ _tag: "Answered" })
    return this.#stream
  }

  #media(message: unknown): void {
    const media = at(message, "media")
    const payload = textAt(media, "payload")
    if (payload === undefined) throw new Error("media without a payload")
    if (!(textAt(media, "track") ?? "inbound").startsWith("inbound") || this.#isLate(Number(at(media, "chunk") ?? -1))) return
    const text = Buffer.from(payload)
    this.#hear(text.length > (decoded.length / 3) * 4 ? -1 : decodeBase64(text, 0, text.length, decoded))
  }

  #hear(bytes: number): void {
    if (bytes < 0) throw new Error("a payload that is not base64")
    if (this.#streamId !== undefined) this.#stream.hear(bytes === frameSize ? decodedFrame : decoded.subarray(0, bytes))
  }

  /** A piece that another one has overtaken is too late. */
  #isLate(chunk: number): boolean {
    if (!(chunk >= 0)) return false
    if (chunk <= this.#lastChunk) return true
    this.#lastChunk = chunk
    return false
  }
}

/** A carrier that does not name its format sends mu-law. */
const isMulaw = (format: unknown): boolean => {
  const encoding = textAt(format, "encoding")
  const rate = Number(at(format, "sampleRate") ?? at(format, "sample_rate") ?? sampleRate)
  return (encoding === undefined || /^(audio\/x-mulaw|PCMU)\b/i.test(encoding)) && rate === sampleRate
}
