/** Port: handles a websocket that a carrier opens for the audio of a call. */
import { Context } from "effect"
import type { MediaEnd } from "./Media.ts"
import type { MediaSocket } from "./MediaSocket.ts"

/** Not part of the documented API, like the addresses of callbacks; see `CallbackAddress.ts`. */
export const MEDIA_ROUTE = "/api/v1/carrier-media/:call/:seal"

/** A carrier's request to open a websocket. */
export interface MediaUpgrade {
  /** The parts of the path, as they arrived. */
  readonly address: { readonly call: string; readonly seal: string }
  /** Raw, without the question mark. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

/** Receives the events of one socket. Neither function throws. */
export interface MediaSession {
  readonly message: (data: Uint8Array, isText: boolean) => void
  /** The socket is gone. */
  readonly closed: (how: MediaEnd, why: string) => void
}

export type MediaAdmission =
  /** 403: the request was forged, or not signed by the carrier. 404: this node no longer has the call. */
  | { readonly _tag: "Refused"; readonly status: 403 | 404 }
  | { readonly _tag: "Admitted"; readonly open: (socket: MediaSocket) => MediaSession }

export class CarrierMedia extends Context.Service<
  CarrierMedia,
  {
    /** Decides synchronously, so that no connection is kept open in the meantime. */
    readonly admit: (upgrade: MediaUpgrade) => MediaAdmission
  }
>()("core/provider/CarrierMedia") {}
