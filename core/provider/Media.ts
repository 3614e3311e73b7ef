/** Two-way audio of one call: 8 kHz mu-law, 20 ms frames of 160 bytes. Owned by the scope it was opened in. */
export interface MediaStream {
  /**
   * Queues one 160-byte frame towards the callee. The provider keeps little buffer: callers pace themselves in real time. False: there was no
   * room for it, or no connection any more, and the callee does not hear it.
   */
  readonly send: (frame: Uint8Array) => boolean
  /** The process stood still, and that many frames will not be sent: what comes next is so much later. */
  readonly skip: (frames: number) => void
  /** Drops what is queued at the provider (barge-in). */
  readonly clear: () => void
  /** At most one listener; frames may share memory with the socket: copy to keep. `closed` is called once. */
  readonly listen: (listener: { readonly frame: (frame: Uint8Array) => void; readonly closed: (why: string) => void }) => void
}
