/** A listener to the callee. A call's listeners hear each frame one after another, in a fixed order, as soon as it arrives. */
import type { PcmFrame } from "#core/audio/PcmFrame.ts"

export interface FrameListener {
  /** The frame's memory is reused: anything kept of it must be copied. */
  readonly hear: (frame: PcmFrame) => void
  /**
   * Called at each tick of the pacer with the mu-law frame that has just been sent, and the callee's frame that the recording takes. `now` is on
   * the pacer's clock.
   */
  readonly tick?: (now: number, sent: Uint8Array, heard: PcmFrame | undefined) => void
  /** There will be no more frames. Called once. */
  readonly close?: () => void
}
