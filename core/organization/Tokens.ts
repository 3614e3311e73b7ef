/** Port: what a user shows after logging in. A token names a session, and is good for as long as that is. */
import { Context, type Effect, Schema } from "effect"
import type { UserId } from "./Caller.ts"
import type { SessionId } from "./Session.ts"

/** Altered, expired, or never one of ours. */
export class InvalidToken extends Schema.TaggedError<InvalidToken>()("InvalidToken", {}) {}

/** How long a session lasts, and its token. */
export const sessionHours = 720

interface Shown {
  readonly userId: UserId
  /** Undefined for a token from before there were sessions. */
  readonly sessionId: SessionId | undefined
}

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly issue: (user: { readonly id: UserId; readonly email: string }, session: SessionId) => Effect.Effect<string>
    readonly verify: (token: string) => Effect.Effect<Shown, InvalidToken>
  }
>()("core/organization/Tokens") {}
