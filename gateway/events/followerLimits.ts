/** Limits of every connection that follows events: how long it may be silent, and that its credential must stay valid. */
import { Context, Duration, Effect } from "effect"
import type { Caller } from "#core/organization/Caller.ts"
import { CurrentTenant } from "#core/organization/CurrentTenant.ts"
import { authenticate, type Identities } from "#gateway/request/authenticate.ts"
import { NotAuthenticated } from "#gateway/request/Refusal.ts"

/** After this long, a client must reconnect and present its credential again. */
export const longestFollowing = Duration.hours(1)

interface Times {
  /** Time between two comment lines on a stream of server-sent events. Proxies and our own server close a connection that is silent for longer. */
  readonly heartbeat: Duration.Input
  /** A websocket that receives nothing for this long, not even the answer to a ping, is closed. Pings are sent some seconds earlier. */
  readonly idleSeconds: number
  /** How long a full websocket may take to accept more. */
  readonly longestWait: Duration.Input
  /** How often the credential is checked again. */
  readonly credentialCheck: Duration.Input
}

export const FollowingTimes = Context.Reference<Times>("gateway/events/FollowingTimes", {
  defaultValue: () => ({ heartbeat: "15 seconds", idleSeconds: 60, longestWait: "30 seconds", credentialCheck: "30 seconds" })
})

/** Not a client's address: these are rechecks of credentials that were valid. */
const followers = "followers"

/** Fails once the credential is no longer valid, or belongs to another organization than the one whose events are followed. */
export const credentialLost = (
  headers: Readonly<Record<string, string>>,
  { organizationId }: Caller
): Effect.Effect<never, NotAuthenticated, Identities> =>
  Effect.gen(function* () {
    const { credentialCheck } = yield* FollowingTimes
    const look = Effect.flatMap(authenticate(headers, followers), (now) =>
      now.organizationId === organizationId
        ? Effect.void
        : Effect.fail(new NotAuthenticated({ detail: "The credential belongs to another organization by now" }))
    ).pipe(
      Effect.catchTag("TooManyWrongKeys", () => Effect.void),
      // The database does not answer: until it does, there are no events either, so the connection stays.
      Effect.catchDefect((defect) => Effect.logWarning("a follower's credential could not be checked", defect))
    )
    return yield* Effect.forever(Effect.andThen(Effect.sleep(credentialCheck), look))
  }).pipe(Effect.provideService(CurrentTenant, undefined))
