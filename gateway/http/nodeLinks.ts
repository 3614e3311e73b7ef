/** The websocket that the engine that decides opens to this one, whose calls it dispatches. */
import type { Effect } from "effect"
import type * as uws from "uWebSockets.js"
import { LINK_ROUTE, MOST_LINK_BYTES, NodeLinks } from "#core/node/NodeLinks.ts"
import { mountSockets, type SocketLimits } from "./sockets.ts"

const limits: SocketLimits = {
  idleSeconds: 12,
  firstMessageMillis: 10_000,
  maxMessageBytes: MOST_LINK_BYTES,
  maxBufferedBytes: MOST_LINK_BYTES
}

/** Whoever connects proves what it is in its first message. */
export const mountNodeLinks = (app: uws.TemplatedApp): Effect.Effect<void, never, NodeLinks> =>
  NodeLinks.use(({ open }) =>
    mountSockets(app, {
      route: LINK_ROUTE,
      read: { headers: [], hasQuery: false },
      limits,
      admit: () => ({ _tag: "Admitted", open })
    })
  )
