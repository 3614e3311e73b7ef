/** What is known already needs no fiber: an effect that is nothing but a value, as `Effect.succeed` makes it. */
import { type Effect, Exit } from "effect"

export const resolved = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Success<A, E> | undefined =>
  // An effect that is an exit is its own, of the same types.
  Exit.isExit(effect) && Exit.isSuccess(effect) ? (effect as Exit.Success<A, E>) : undefined
