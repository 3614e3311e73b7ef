/** Facts about this installation: its version, and its URL from outside. */
import { Context, Deferred, Effect, Layer } from "effect"

export class ServerInfo extends Context.Service<
  ServerInfo,
  {
    readonly version: string
    /** The URL of the API for clients, without a trailing slash. Waits until the server listens. */
    readonly url: Effect.Effect<string>
    /** To be called again when the port changes. */
    readonly listensOn: (port: number) => Effect.Effect<void>
  }
>()("gateway/ports/ServerInfo") {
  /** The URL may depend on the port, which is known only once the server listens. */
  static readonly layer = (about: { readonly version: string; readonly urlOf: (port: number) => string }): Layer.Layer<ServerInfo> =>
    Layer.effect(
      ServerInfo,
      Effect.map(Deferred.make<void>(), (listens) => {
        let port = 0
        return {
          version: about.version,
          url: Effect.map(Deferred.await(listens), () => about.urlOf(port)),
          listensOn: (listened) => {
            port = listened
            return Effect.asVoid(Deferred.succeed(listens, undefined))
          }
        }
      })
    )
}
