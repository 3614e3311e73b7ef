/**
 * The audio of a hosted carrier: the carrier opens a websocket to the engine for each call. The gateway serves the socket, the adapter speaks the
 * carrier's protocol on it. Everything here is called for each message, 50 times a second and call, so it is plain functions.
 */
import type { MediaEnd, MediaStream } from "./Media.ts"
import type { Callback } from "./Callback.ts"
import type { CallRef } from "./CallRef.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"

/** Our end of the socket. What is sent is copied before `send` returns, so its memory can be used again. */
export interface MediaSocket {
  /** Sends a text message; bytes are UTF-8. False: the carrier is too far behind, or gone, and the message was dropped. */
  readonly sendText: (message: string | Uint8Array) => boolean
  /** The same with a binary message. */
  readonly sendBytes: (message: Uint8Array) => boolean
  /** How much is waiting to be sent. */
  readonly bufferedBytes: () => number
  /** Closes the connection; `closed` of the protocol is not called for it. */
  readonly close: (code: number, reason: string) => void
}

/** The adapter's end: one for each socket. */
export interface MediaProtocol {
  /**
   * Takes a message of the carrier. Its bytes are valid only until this returns. Returns the stream once, when the carrier's first messages have said
   * all that is needed; the engine listens to it later. If it throws, the stream has `failed` and the engine closes the socket.
   */
  readonly message: (data: Uint8Array, isText: boolean) => MediaStream | undefined
  /** The socket is gone, or is about to be closed by the engine. Called at most once; must tell the listener of the stream unless it was told. */
  readonly closed: (how: MediaEnd, why: string) => void
}

/** Begins a protocol on a new socket of the call. `onEvent` takes what the stream tells of the call, such as keys; it never throws. */
export type AcceptMedia = (call: CallRef, socket: MediaSocket, onEvent: (event: TrunkEvent) => void) => MediaProtocol

/** How a carrier that connects to us brings the audio of its calls. */
export interface CarrierMediaOf<Config> {
  /**
   * Whether the request to open the socket comes from the carrier; its address is ours. If omitted, the address is proof enough. Pure and
   * synchronous; gets the headers that `callbackHeaders` lists.
   */
  readonly admit?: (config: Config, upgrade: Callback) => boolean
  readonly accept: AcceptMedia
}
