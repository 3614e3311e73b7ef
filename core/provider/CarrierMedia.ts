/** Port: what becomes of a websocket that a carrier opens for the audio of a call. */
import { Context } from "effect"
import type { MediaEnd } from "./Media.ts"
import type { MediaSocket } from "./MediaSocket.ts"

/** Outside the documented API, like the addresses of callbacks; see `CallbackAddress.ts`. */
export const MEDIA_ROUTE = "/api/v1/carrier-media/:call/:seal"

/** A carrier's request to open a websocket. */
export interface MediaUpgrade {
  /** The parts of the path, as they arrived. */
  readonly address: { readonly call: string; readonly seal: string }
  /** Raw, without the question mark. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
}

/** Takes what happens on one socket. Neither function throws. */
export interface MediaSession {
  readonly message: (data: Uint8Array, isText: boolean) => void
  /** The socket is gone. */
  readonly closed: (how: MediaEnd, why: string) => void
}

export type MediaAdmission =
  /** 403: forged, or not signed by the carrier. 404: this node has no such call any more. */
  | { readonly _tag: "Refused"; readonly status: 403 | 404 }
  | { readonly _tag: "Admitted"; readonly open: (socket: MediaSocket) => MediaSession }

export class CarrierMedia extends Context.Service<
  CarrierMedia,
  {
    /** Decides without waiting for anything, so that no connection is held open meanwhile. */
    readonly admit: (upgrade: MediaUpgrade) => MediaAdmission
  }
>()("core/provider/CarrierMedia") {}
