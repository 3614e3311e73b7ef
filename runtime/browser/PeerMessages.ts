/**
 * What the engine and the worker with the browsers' connections tell each other. Audio crosses in batches: 160 bytes of 8 kHz mu-law for each
 * entry of `peers`, in that order.
 */

interface Frames {
  readonly _tag: "Audio"
  readonly peers: ReadonlyArray<number>
  readonly bytes: Uint8Array
}

export interface IceServer {
  readonly urls: string
  readonly username?: string
  readonly credential?: string
}

/** Given to the worker as it starts. */
export interface PeerSettings {
  /** The IP address on which audio is received; `0.0.0.0` or `::`: all of the machine's. */
  readonly address: string
  /** The UDP ports; undefined: any that is free. */
  readonly ports: readonly [first: number, last: number] | undefined
  /** How long a connection may take, and how long a connected browser may send nothing. */
  readonly connectMillis: number
  readonly quietMillis: number
}

/** As browsers write them. */
export interface Candidate {
  readonly candidate: string
  readonly sdpMid?: string | undefined
  readonly sdpMLineIndex?: number | undefined
}

export type ToPeers =
  /** The first offer opens the connection. */
  | { readonly _tag: "Offer"; readonly peer: number; readonly sdp: string; readonly iceServers: ReadonlyArray<IceServer> }
  | { readonly _tag: "Candidate"; readonly peer: number; readonly candidate: Candidate }
  /** The process stalled: the next frame is to be played this many frames later. */
  | { readonly _tag: "Skip"; readonly peer: number; readonly frames: number }
  | { readonly _tag: "Close"; readonly peer: number }
  | Frames

/**
 * - `left`: the browser has closed the connection.
 * - `lost`: nothing is received from it any more.
 * - `unconnected`: no connection in time.
 * - `refused`: its offer cannot be answered.
 */
export type PeerEnd = "left" | "lost" | "unconnected" | "refused"

export type FromPeers =
  | { readonly _tag: "Answer"; readonly peer: number; readonly sdp: string }
  | { readonly _tag: "Connected"; readonly peer: number }
  | { readonly _tag: "Ended"; readonly peer: number; readonly how: PeerEnd }
  /** Something failed that the library had left unhandled. `error` is its name. */
  | { readonly _tag: "Troubled"; readonly error: string }
  | Frames
