/**
 * The audio of a hosted carrier: the carrier opens a websocket to the engine for each call. The gateway serves the socket, and the adapter
 * implements the carrier's protocol on it. All of this runs for each message, 50 times a second for each call, so it consists of plain
 * functions.
 */
import type { MediaEnd, MediaStream } from "./Media.ts"
import type { Callback } from "./Callback.ts"
import type { CallRef } from "./CallRef.ts"
import type { TrunkEvent } from "./TrunkEvent.ts"

/** Our end of the socket. Messages are copied before `send` returns, so their memory can be reused. */
export interface MediaSocket {
  /** Sends a text message; bytes are UTF-8. False if the message was dropped because the carrier is too far behind or gone. */
  readonly sendText: (message: string | Uint8Array) => boolean
  /** Like `sendText`, but sends a binary message. */
  readonly sendBytes: (message: Uint8Array) => boolean
  /** How many bytes are waiting to be sent. */
  readonly bufferedBytes: () => number
  /** Closes the connection. This does not call the protocol's `closed`. */
  readonly close: (code: number, reason: string) => void
}

/** The adapter's end, one instance per socket. */
export interface MediaProtocol {
  /**
   * Handles a message from the carrier. Its bytes are valid only until this returns. Returns the stream once, when the carrier's first
   * messages contain all that is needed; the engine listens to it later. If it throws, the stream has `failed` and the engine closes the
   * socket.
   */
  readonly message: (data: Uint8Array, isText: boolean) => MediaStream | undefined
  /** The socket is gone, or the engine is about to close it. Called at most once; must tell the stream's listener unless it already knows. */
  readonly closed: (how: MediaEnd, why: string) => void
}

/** Starts the protocol on a new socket of the call. `onEvent` takes what the stream reveals about the call, such as keys, or that it is answered; it never throws. */
export type AcceptMedia = (call: CallRef, socket: MediaSocket, onEvent: (event: TrunkEvent) => void) => MediaProtocol

/** How a carrier that connects to us delivers the audio of its calls. */
export interface CarrierMediaOf<Config> {
  /**
   * Whether the request to open the socket comes from the carrier. If omitted, the address, which only the carrier knows, is proof enough.
   * Pure and synchronous; gets the headers that `callbackHeaders` lists.
   */
  readonly admit?: (config: Config, upgrade: Callback) => boolean
  readonly accept: AcceptMedia
}
