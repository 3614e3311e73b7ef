/** Effects under tap: a scope that closes at the end, no log output, a rejected promise for a failure. */
import { Effect, Layer, Logger, type Scope } from "effect"
import { TestClock } from "effect/testing"

const silent = Logger.layer([])

/** On a clock that stands at 0 until `TestClock.adjust`; sockets, files and databases do not obey it. */
export const run = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(Layer.merge(silent, TestClock.layer()))))

/** On the real clock. */
export const runLive = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Promise<A> =>
  Effect.runPromise(Effect.scoped(effect).pipe(Effect.provide(silent)))
