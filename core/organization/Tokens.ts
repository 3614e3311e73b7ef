/** Port: what a user shows after logging in. A token speaks for itself until it expires; nothing is kept of it. */
import { Context, type Effect, Schema } from "effect"
import type { UserId } from "./Caller.ts"

/** Altered, expired, or never one of ours. */
export class InvalidToken extends Schema.TaggedError<InvalidToken>()("InvalidToken", {}) {}

export class Tokens extends Context.Service<
  Tokens,
  {
    readonly issue: (user: { readonly id: UserId; readonly email: string }) => Effect.Effect<string>
    readonly verify: (token: string) => Effect.Effect<UserId, InvalidToken>
  }
>()("core/organization/Tokens") {}
