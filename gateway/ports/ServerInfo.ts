/** What this installation says of itself: its version, and where it is reached from outside. */
import { Context, Deferred, Effect, Layer } from "effect"

export class ServerInfo extends Context.Service<
  ServerInfo,
  {
    readonly version: string
    /** Where clients reach the API, without a slash at the end. Waits until the server listens. */
    readonly url: Effect.Effect<string>
    readonly listensOn: (port: number) => Effect.Effect<void>
  }
>()("gateway/ports/ServerInfo") {
  /** The address may depend on the port, which is known only once the server listens. */
  static readonly layer = (about: { readonly version: string; readonly urlOf: (port: number) => string }): Layer.Layer<ServerInfo> =>
    Layer.effect(
      ServerInfo,
      Effect.map(Deferred.make<number>(), (port) => ({
        version: about.version,
        url: Effect.map(Deferred.await(port), about.urlOf),
        listensOn: (listened) => Effect.asVoid(Deferred.succeed(port, listened))
      }))
    )
}
