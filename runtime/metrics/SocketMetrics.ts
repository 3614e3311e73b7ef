/** Counts the websockets that the carriers of one provider open for the audio of calls. */
export class SocketMetrics {
  open = 0
  /** Forged, or not signed by the carrier. */
  forged = 0
  /** For calls that this node does not have, or no longer has. */
  strayed = 0
  /** Audio messages dropped because the carrier was too far behind. */
  dropped = 0
}
