/** How busy this node is with audio. */
export interface MediaMetrics {
  /** Calls with audio, counted from when they may be dialed. */
  readonly placed: number
  /** Those among them whose audio is flowing. */
  readonly streams: number
  /** Infinite if no limit is set and none was measured. */
  readonly limit: number
  readonly framesLate: number
}
