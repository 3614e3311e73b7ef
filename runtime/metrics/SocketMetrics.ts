/** Counts the websockets that the carriers of one provider open for the audio of calls. */
export class SocketMetrics {
  open = 0
  /** Forged, or not signed by the carrier. */
  forged = 0
  /** For calls that this node does not have, or not any more. */
  strayed = 0
  /** Messages of audio for which the carrier was too far behind. */
  dropped = 0
}
