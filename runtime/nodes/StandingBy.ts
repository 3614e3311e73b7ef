/** The step from standing by, when an engine carries calls for another one, to having the lock. It is taken once, and never back. */
import { Context, Deferred, Effect, Layer } from "effect"
import type { CallNodeForsaken } from "./Carriage.ts"

type End = Effect.Effect<void, CallNodeForsaken>

export class StandingBy extends Context.Service<
  StandingBy,
  {
    /** To be run before the first call is carried. Never returns once this engine has the lock. */
    readonly begin: Effect.Effect<void>
    /** Calls are carried. `end`: to be run when they no longer are for another engine. */
    readonly begun: (end: End) => Effect.Effect<void>
    /** To be run with the lock, before anything that decides is built. */
    readonly end: End
  }
>()("runtime/nodes/StandingBy") {
  static readonly layer = Layer.effect(
    StandingBy,
    Effect.gen(function* () {
      const begun = yield* Deferred.make<End>()
      let hasBegun = false
      let isOver = false
      return {
        begin: Effect.suspend(() => {
          hasBegun = !isOver
          return isOver ? Effect.never : Effect.void
        }),
        begun: (end) => Effect.asVoid(Deferred.succeed(begun, end)),
        end: Effect.suspend(() => {
          isOver = true
          return hasBegun ? Effect.flatten(Deferred.await(begun)) : Effect.void
        })
      }
    })
  )
}
