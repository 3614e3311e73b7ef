/**
 * How a stream ended.
 * - `ended`: the carrier stopped or closed it in an orderly way. Usually the call has ended, and the carrier reports that up to some seconds later.
 * - `unknown`: the connection is gone, and nothing says why.
 * - `failed`: it is certainly lost, whether the call goes on or not: it broke the protocol, or does not respond.
 * - `replaced`: the call's audio continues on a newer stream.
 */
export type MediaEnd = "ended" | "unknown" | "failed" | "replaced"

export interface MediaListener {
  /** Frames may share memory with the socket: copy them to keep them. */
  readonly frame: (frame: Uint8Array) => void
  /** Called once for each accepted mark, in order, and never after `closed`. */
  readonly marked?: (name: string, how: "played" | "cleared") => void
  /** Called once. */
  readonly closed: (how: MediaEnd, why: string) => void
}

/** Two-way audio of one call: 8 kHz mu-law in 20 ms frames of 160 bytes. It belongs to the scope that it was opened in, or to its call. */
export interface MediaStream {
  /**
   * Queues one 160-byte frame for the callee, and keeps no reference to its memory. The provider buffers little, so callers must send in real
   * time. False if there is no room or no connection: the callee will not hear the frame.
   */
  readonly send: (frame: Uint8Array) => boolean
  /** The process stalled, and this many frames will not be sent: the next frame is to be played that much later. */
  readonly skip: (frames: number) => void
  /** Drops what is queued at the provider (barge-in). */
  readonly clear: () => void
  /** Has `marked` called once everything sent so far has been played or cleared. False if the stream cannot report that, or not now. */
  readonly mark: (name: string) => boolean
  /** Takes at most one listener. Audio that arrives before is dropped. */
  readonly listen: (listener: MediaListener) => void
}
