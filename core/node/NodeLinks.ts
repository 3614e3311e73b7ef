/** Port: the dispatcher's link to a call node; see `runtime/nodes`. */
import { Context } from "effect"
import type { MediaSession } from "#core/provider/CarrierMedia.ts"
import type { MediaSocket } from "#core/provider/MediaSocket.ts"

export const LINK_ROUTE = "/node-link"
/** A contact with all its columns, or the ids of all calls of the last minutes, are far smaller. */
export const MOST_LINK_BYTES = 16_777_216

export class NodeLinks extends Context.Service<NodeLinks, { readonly open: (socket: MediaSocket) => MediaSession }>()(
  "core/node/NodeLinks"
) {}
