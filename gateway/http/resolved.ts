/**
 * The fast path: an effect that is already a value, as `Effect.succeed` makes it, is answered without a fiber. Every stage of a request
 * keeps it so: what waits for nothing goes on in the handler of the socket.
 */
import { Effect, Exit } from "effect"

export const resolved = <A, E, R>(effect: Effect.Effect<A, E, R>): Exit.Success<A, E> | undefined =>
  // An effect that is an exit is its own, of the same types.
  Exit.isExit(effect) && Exit.isSuccess(effect) ? (effect as Exit.Success<A, E>) : undefined

/** `Effect.matchEffect`, but a value that is already there is passed on at once. */
export const matched = <A, E, B, R, S>(
  effect: Effect.Effect<A, E, R>,
  cases: { readonly onSuccess: (value: A) => Effect.Effect<B, never, S>; readonly onFailure: (error: E) => Effect.Effect<B> }
): Effect.Effect<B, never, R | S> => {
  const value = resolved(effect)
  return value === undefined ? Effect.matchEffect(effect, cases) : cases.onSuccess(value.value)
}
