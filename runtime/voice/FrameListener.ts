/** Listens to the callee. Those of a call hear each frame one after another, in a fixed order, as soon as it arrives. */
import type { PcmFrame } from "#core/audio/PcmFrame.ts"

export interface FrameListener {
  /** The frame's memory is used again: what is kept of it must be copied. */
  readonly hear: (frame: PcmFrame) => void
  /**
   * Called at each tick of the pacer: what has just been sent, in mu-law, and what the recording takes of the callee. `now` is the pacer's clock.
   */
  readonly tick?: (now: number, sent: Uint8Array, heard: PcmFrame | undefined) => void
  /** There will be no more frames. Called once. */
  readonly close?: () => void
}
