/** Port: issues and verifies the token that a user sends after logging in. A token names a session, and is valid as long as that session. */
import { Context, type Effect, Schema } from "effect"
import type { UserId } from "./Caller.ts"
import type { SessionId } from "./Session.ts"

/** The token was altered, has expired, or was never issued here. */
export class InvalidToken extends Schema.TaggedError<InvalidToken>()("InvalidToken", {}) {}

/** Lifetime of a session and of its token. */
export const sessionHours = 720

interface Shown {
  readonly userId: UserId
  /** Undefined for a token issued before sessions existed. */
  readonly sessionId: SessionId | undefined
}

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly issue: (user: { readonly id: UserId; readonly email: string }, session: SessionId) => Effect.Effect<string>
    readonly verify: (token: string) => Effect.Effect<Shown, InvalidToken>
  }
>()("core/organization/Tokens") {}
