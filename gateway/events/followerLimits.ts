/** What holds for every connection that follows events, by whatever way: how long it may be silent, and whose it still has to be. */
import { Context, Duration, Effect } from "effect"
import type { Caller } from "#core/organization/Caller.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { authenticate, type Identities } from "#gateway/request/authenticate.ts"
import { NotAuthenticated } from "#gateway/request/Refusal.ts"

/** Whoever follows for longer comes back, and shows the credential anew. */
export const longestFollowing = Duration.hours(1)

interface Times {
  /** Between two signs of life on a line of server-sent events. Less than what proxies and the server itself take for a line that hangs. */
  readonly heartbeat: Duration.Input
  /** A websocket on which nothing came for so long, not even the answer to a ping, is closed. Pings go out some seconds earlier. */
  readonly idleSeconds: number
  /** For a full websocket to take more. */
  readonly longestWait: Duration.Input
  /** How often it is asked again whose the credential is. */
  readonly credentialCheck: Duration.Input
}

export const FollowingTimes = Context.Reference<Times>("gateway/events/FollowingTimes", {
  defaultValue: () => ({ heartbeat: "15 seconds", idleSeconds: 60, longestWait: "30 seconds", credentialCheck: "30 seconds" })
})

/** No address of a client's: credentials that were good are asked for again. */
const followers = "followers"

/** Fails once the credential has lost its worth, or is another organization's than the one whose events are followed. */
export const credentialLost = (
  headers: Readonly<Record<string, string>>,
  { organizationId }: Caller
): Effect.Effect<never, NotAuthenticated, Identities> =>
  Effect.gen(function* () {
    const { credentialCheck } = yield* FollowingTimes
    const look = Effect.flatMap(authenticate(headers, followers), (now) =>
      now.organizationId === organizationId
        ? Effect.void
        : Effect.fail(new NotAuthenticated({ detail: "The credential is another organization's by now" }))
    ).pipe(
      Effect.catchTag("TooManyWrongKeys", () => Effect.void),
      // The database does not answer: until it does, there are no events either.
      Effect.catchDefect((defect) => Effect.logWarning("a follower's credential could not be checked", defect))
    )
    return yield* Effect.forever(Effect.andThen(Effect.sleep(credentialCheck), look))
  }).pipe(Effect.provideService(CurrentTenant, undefined))
