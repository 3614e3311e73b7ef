/** Requests that only a logged-in user may make. */
import { Effect } from "effect"
import type { Caller, UserId } from "#core/organization/Caller.ts"
import { LoginNeeded } from "#core/organization/User.ts"

/** An API key belongs to one organization, and must not reach its creator's personal data. */
export const loggedIn = ({ apiKeyId, userId }: Caller): Effect.Effect<UserId, LoginNeeded> =>
  userId === undefined || apiKeyId !== undefined ? Effect.fail(new LoginNeeded()) : Effect.succeed(userId)
