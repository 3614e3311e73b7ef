/**
 * Serves `/metrics` alone, on a port of its own on 127.0.0.1: behind a proxy on this machine, every client of the API would be local. Whoever can connect may
 * read, which a browser on this machine can on behalf of any page, so pages may read nothing, whatever `CORS_ORIGINS` says.
 */
import { Context, Effect, Layer } from "effect"
import { endpointOf, type GatewayNeeds } from "./request/stages.ts"
import { AllowedOrigins } from "./http/admission.ts"
import { Closing } from "./http/Closing.ts"
import type { ListenFailed } from "./http/listening.ts"
import { metricsRoute } from "./routes/health.ts"
import { Gateway } from "./http/Gateway.ts"
import { layer as serverLayer } from "./http/server.ts"

/** `url`: its address; undefined if there is no such server. */
export class MetricsServer extends Context.Service<MetricsServer, { readonly url: string | undefined }>()("gateway/MetricsServer") {
  static readonly layerNone = Layer.succeed(MetricsServer, { url: undefined })
  /** `port`: 0 takes any free one. */
  static readonly layer = (port: number): Layer.Layer<MetricsServer, ListenFailed, GatewayNeeds> =>
    Layer.effect(
      MetricsServer,
      Effect.map(Gateway, ({ host, port }) => ({ url: `http://${host}:${port}${metricsRoute.path}` }))
    ).pipe(
      Layer.provide(
        serverLayer({
          host: "127.0.0.1",
          port,
          endpoints: [
            endpointOf(metricsRoute, {
              checksAnswers: false,
              lanes: { refusalFor: () => undefined },
              rates: { refusal: () => undefined },
              remembered: () => undefined,
              shedding: { refusal: () => undefined }
            })
          ]
        })
      ),
      Layer.provide([Closing.layer, Layer.succeed(AllowedOrigins, new Set<string>())])
    )
}
