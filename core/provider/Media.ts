/** Two-way audio of one call: 8 kHz mu-law in 20 ms frames of 160 bytes. It belongs to the scope that it was opened in. */
export interface MediaStream {
  /**
   * Queues one 160-byte frame towards the callee. The provider buffers little, so callers must pace themselves in real time. False: there is no
   * room for it or no connection any more, and the callee does not hear it.
   */
  readonly send: (frame: Uint8Array) => boolean
  /** The process stalled, and this many frames will not be sent: the next frame belongs that much later. */
  readonly skip: (frames: number) => void
  /** Drops what is queued at the provider (barge-in). */
  readonly clear: () => void
  /** Takes at most one listener. Frames may share memory with the socket: copy them to keep them. `closed` is called once. */
  readonly listen: (listener: { readonly frame: (frame: Uint8Array) => void; readonly closed: (why: string) => void }) => void
}
