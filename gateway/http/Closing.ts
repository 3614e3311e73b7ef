/** Answers without an end, such as followed events, have to know when the gateway closes: it would wait for them. */
import { Context, Deferred, Effect, Layer } from "effect"

export class Closing extends Context.Service<
  Closing,
  {
    /** Returns when the gateway has begun to close. */
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
