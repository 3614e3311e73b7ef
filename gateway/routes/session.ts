/** /api/v1/user/sessions, /api/v1/user/password and logging out. */
import { Effect } from "effect"
import { Users } from "#core/organization/Users.ts"
import { loggedIn } from "#gateway/request/loggedIn.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { Changed, changed } from "#gateway/wire/ApiKey.ts"
import { ChangePassword, openSessionWire, SessionList, SessionPath } from "#gateway/wire/Session.ts"

const ends = "Its token is refused from then on, and event connections that use it are closed within half a minute."

export const sessionRoutes = tagged({ name: "Sessions", about: "The caller's log-ins, and their password." }, [
  route({
    method: "get",
    path: "/api/v1/user/sessions",
    name: "listSessions",
    summary: "List the current user's log-ins, newest first",
    description: "From which address and when each began and was last used, when it expires, and which one this is. 403 for an API key.",
    success: SessionList,
    errors: ["LoginNeeded"],
    handle: ({ caller }) =>
      Effect.flatMap(loggedIn(caller), (id) => Users.use((_) => _.sessions(id))).pipe(
        Effect.map((sessions) => ({ sessions: sessions.map(openSessionWire(caller)) }))
      )
  }),
  route({
    method: "delete",
    path: "/api/v1/user/sessions/:session_id",
    name: "endSession",
    summary: "End one of the current user's log-ins",
    description: ends,
    needs: "viewer",
    params: SessionPath,
    success: Changed,
    errors: ["LoginNeeded", "SessionNotFound"],
    handle: ({ caller, params }) =>
      Effect.flatMap(loggedIn(caller), (id) => Users.use((_) => _.endSession(id, params.session_id))).pipe(
        Effect.as(changed("Session ended successfully"))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/auth/logout",
    name: "logOut",
    summary: "Log out",
    description: ends,
    needs: "viewer",
    success: Changed,
    errors: ["LoginNeeded", "SessionNotFound"],
    handle: ({ caller }) =>
      Effect.gen(function* () {
        const id = yield* loggedIn(caller)
        const { sessionId } = caller
        if (sessionId !== undefined) yield* Users.use((_) => _.endSession(id, sessionId))
        return changed("Logged out successfully")
      })
  }),
  route({
    method: "post",
    path: "/api/v1/auth/logout-everywhere",
    name: "logOutEverywhere",
    summary: "End all of the current user's log-ins, including this one",
    description: "All tokens of the user are refused from now on; API keys stay valid. 403 for an API key.",
    needs: "viewer",
    success: Changed,
    errors: ["LoginNeeded"],
    handle: ({ caller }) =>
      Effect.flatMap(loggedIn(caller), (id) => Users.use((_) => _.endSessions(id))).pipe(
        Effect.as(changed("Logged out everywhere successfully"))
      )
  }),
  route({
    method: "put",
    path: "/api/v1/user/password",
    name: "changePassword",
    summary: "Change the current user's password",
    description: "All other log-ins end; API keys stay valid. 403 for an API key, 400 if the current password is wrong.",
    needs: "viewer",
    body: ChangePassword,
    success: Changed,
    errors: ["LoginNeeded", "PasswordWrong", "PasswordsBusy", "TooManyAttempts", "UserNotFound"],
    handle: ({ body, caller, client }) =>
      Effect.gen(function* () {
        const id = yield* loggedIn(caller)
        const change = { current: body.current_password, next: body.new_password, address: client.address }
        yield* Users.use((_) => _.changePassword(id, caller.sessionId, change))
        return changed("Password changed successfully")
      })
  })
])
