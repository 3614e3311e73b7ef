/**
 * The server of a call node. It has no API: the dispatcher connects to it, and engines forward to it what carriers send about its calls, and their
 * audio.
 */
import { Effect, Layer } from "effect"
import type { CarrierCallbacks } from "#core/provider/CarrierCallbacks.ts"
import type { CarrierMedia } from "#core/provider/CarrierMedia.ts"
import { Registry } from "#core/provider/Registry.ts"
import { carrierEndpoints } from "./carrierCallbacks.ts"
import { Closing } from "./http/Closing.ts"
import type { Gateway } from "./http/Gateway.ts"
import type { ListenFailed } from "./http/listening.ts"
import { mountMediaSockets } from "./http/mediaSockets.ts"
import { layer as serverLayer } from "./http/server.ts"
import { mountSockets, type SocketLimits } from "./http/sockets.ts"
import { LINK_ROUTE, MOST_LINK_BYTES, NodeLinks } from "#core/node/NodeLinks.ts"

const linkLimits: SocketLimits = {
  idleSeconds: 12,
  firstMessageMillis: 10_000,
  maxMessageBytes: MOST_LINK_BYTES,
  maxBufferedBytes: MOST_LINK_BYTES
}

type Needs = CarrierCallbacks | CarrierMedia | NodeLinks

export const layer = (options: {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
}): Layer.Layer<Gateway, ListenFailed, Needs | Registry> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const signed = (yield* Registry).all.flatMap(({ callbackHeaders = [] }) => callbackHeaders)
      const { open } = yield* NodeLinks
      return serverLayer<Needs>({
        ...options,
        endpoints: carrierEndpoints(signed),
        mount: (app) =>
          Effect.andThen(
            mountMediaSockets(app, signed),
            mountSockets(app, {
              route: LINK_ROUTE,
              read: { headers: [], hasQuery: false },
              limits: linkLimits,
              // Whoever connects proves what it is in its first message.
              admit: () => ({ _tag: "Admitted", open })
            })
          )
      })
    })
  ).pipe(Layer.provide(Closing.layer))
