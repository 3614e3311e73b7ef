/** Converts an answer to the vocabulary that this installation's clients expect. */
import { Effect } from "effect"
import { Compatibility } from "#core/Compatibility.ts"

export const shown =
  <From, To>(wire: (value: From, compatibility: Compatibility) => To) =>
  <E, R>(effect: Effect.Effect<From, E, R>): Effect.Effect<To, E, R> =>
    Effect.flatMap(effect, (value) => Effect.map(Compatibility, (compatibility) => wire(value, compatibility)))
