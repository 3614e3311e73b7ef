/**
 * The fast path: an effect that is already a value, as from `Effect.succeed`, is answered without a fiber. Every stage of a request preserves
 * this: work that waits for nothing stays in the socket's handler.
 */
import { Effect, Exit } from "effect"

export const resolved = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Success<A, E> | undefined =>
  // An effect that is an `Exit` is its own result, with the same types.
  Exit.isExit(effect) && Exit.isSuccess(effect) ? (effect as Exit.Success<A, E>) : undefined

/** `Effect.matchEffect`, but a value that is already known is passed on at once. */
export const matched = <A, E, B, R, S>(
  effect: Effect.Effect<A, E, R>,
  cases: { readonly onSuccess: (value: A) => Effect.Effect<B, never, S>; readonly onFailure: (error: E) => Effect.Effect<B> }
): Effect.Effect<B, never, R | S> => {
  const value = resolved(effect)
  return value === undefined ? Effect.matchEffect(effect, cases) : cases.onSuccess(value.value)
}
