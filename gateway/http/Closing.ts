/**
 * Tells endless answers, such as event streams, that the gateway is closing, which would wait for them otherwise. Websockets are not among the
 * requests that it waits for, so their fibers are kept here.
 */
import { Context, Deferred, Effect, FiberSet, Layer } from "effect"

export class Closing extends Context.Service<
  Closing,
  {
    /** Returns once the gateway begins to close. */
    readonly begun: Effect.Effect<void>
    readonly begin: Effect.Effect<void>
    /** The gateway closes no connection before these fibers have ended, unless they take too long. */
    readonly awaited: FiberSet.FiberSet<void>
  }
>()("gateway/http/Closing") {
  static readonly begin = Closing.use(({ begin }) => begin)
  /** Returns once no fiber is awaited any more. */
  static readonly ended = Closing.use(({ awaited }) => FiberSet.awaitEmpty(awaited))
  static readonly layer = Layer.effect(
    Closing,
    Effect.gen(function* () {
      const begun = Deferred.makeUnsafe<void>()
      const awaited = yield* FiberSet.make<void>()
      return { awaited, begun: Deferred.await(begun), begin: Effect.asVoid(Deferred.succeed(begun, undefined)) }
    })
  )
}
