/** Tells answers without an end, such as an event stream, that the gateway closes. It would wait for them otherwise. */
import { Context, Deferred, Effect, Layer } from "effect"

export class Closing extends Context.Service<
  Closing,
  {
    /** Returns once the gateway begins to close. */
    readonly begun: Effect.Effect<void>
    readonly begin: Effect.Effect<void>
  }
>()("gateway/http/Closing") {
  static readonly begin = Closing.use(({ begin }) => begin)
  static readonly layer = Layer.sync(Closing, () => {
    const begun = Deferred.makeUnsafe<void>()
    return { begun: Deferred.await(begun), begin: Effect.asVoid(Deferred.succeed(begun, undefined)) }
  })
}
