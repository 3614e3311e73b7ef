/** What only a user who has logged in may ask for. */
import { Effect } from "effect"
import type { Caller, UserId } from "#core/organization/Caller.ts"
import { LoginNeeded } from "#core/organization/User.ts"

/** A key is for one organization, and has no business with what is its maker's own. */
export const loggedIn = ({ apiKeyId, userId }: Caller): Effect.Effect<UserId, LoginNeeded> =>
  userId === undefined || apiKeyId !== undefined ? Effect.fail(new LoginNeeded()) : Effect.succeed(userId)
