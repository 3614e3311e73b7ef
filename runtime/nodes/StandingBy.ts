/** The step from standing by, when an engine carries calls for another one, to having the lock. It is taken once, and never back. */
import { Context, Deferred, Effect, Layer } from "effect"
import type { CallNodeForsaken } from "./Carriage.ts"

type End = Effect.Effect<void, CallNodeForsaken>

export class StandingBy extends Context.Service<
  StandingBy,
  {
    /**
     * To be run before this engine serves anybody and carries its first call, which it must `wait` for. Never returns once this engine has the lock,
     * which ends the waiting.
     */
    readonly begin: <E, R>(wait: Effect.Effect<void, E, R>) => Effect.Effect<void, E, R>
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
      const ended = yield* Deferred.make<void>()
      let waited: Deferred.Deferred<void> | undefined
      let hasBegun = false
      let isOver = false
      return {
        begin: (wait) =>
          Effect.suspend(() => {
            if (isOver) return Effect.never
            const over = Deferred.makeUnsafe<void>()
            waited = over
            return Effect.raceFirst(wait, Deferred.await(ended)).pipe(
              Effect.ensuring(Deferred.succeed(over, undefined)),
              Effect.flatMap(() => {
                hasBegun = !isOver
                return isOver ? Effect.never : Effect.void
              })
            )
          }),
        begun: (end) => Effect.asVoid(Deferred.succeed(begun, end)),
        end: Effect.gen(function* () {
          isOver = true
          yield* Deferred.succeed(ended, undefined)
          if (waited !== undefined) yield* Deferred.await(waited)
          if (hasBegun) yield* yield* Deferred.await(begun)
        })
      }
    })
  )
}
