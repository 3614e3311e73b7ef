/**
 * Port: engines forget permissions together. Each remembers for a second what it has read of them; what changes here, such as a session that is
 * ended, is forgotten by the others as soon as they are told, or after that second if they are not.
 */
import { Context, Effect, type Scope } from "effect"

export const ForgottenEverywhere = Context.Reference<{
  /** Tells the others that something has changed and is committed. */
  readonly tell: () => void
  /** Runs `forget` whenever another engine tells so. */
  readonly onTold: (forget: Effect.Effect<void>) => Effect.Effect<void, never, Scope.Scope>
}>("core/organization/ForgottenEverywhere", { defaultValue: () => ({ onTold: () => Effect.void, tell: () => {} }) })

/** `forget`, here and everywhere. */
export const everywhere = Effect.fnUntraced(function* (forget: Effect.Effect<void>) {
  const { onTold, tell } = yield* ForgottenEverywhere
  yield* onTold(forget)
  return Effect.andThen(forget, Effect.sync(tell))
})
