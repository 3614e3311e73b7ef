/** How busy the audio of this node is. */
export interface MediaMetrics {
  /** Calls with audio, from the moment that they may be dialed. */
  readonly placed: number
  /** Of those, whose audio flows. */
  readonly streams: number
  /** Infinite: none is set, and none was found. */
  readonly limit: number
  readonly framesLate: number
}
