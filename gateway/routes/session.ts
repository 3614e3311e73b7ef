/** /api/v1/user/sessions, /api/v1/user/password, the cookie of a browser, and logging out. */
import { Effect } from "effect"
import Type from "typebox"
import { OrganizationSettings } from "#core/organization/OrganizationSettings.ts"
import { Users } from "#core/organization/Users.ts"
import { loggedIn } from "#gateway/request/loggedIn.ts"
import { sessionCookie } from "#gateway/http/sessionCookie.ts"
import { optional } from "#gateway/request/Field.ts"
import { type Route, route, tagged } from "#gateway/request/Route.ts"
import { Changed, changed } from "#gateway/wire/ApiKey.ts"
import { CallerWire, callerWire, ChangePassword, openSessionWire, SessionList, SessionPath } from "#gateway/wire/Session.ts"

const ends = "Its token is refused from then on, and event connections that use it are closed within half a minute."

/** The page that asks. */
const pageHeaders = Type.Object({ Origin: optional(Type.String()) })

const withCookie =
  (credentialOf: (headers: Readonly<Record<string, string>>) => string): NonNullable<Route["around"]> =>
  ({ headers }, reply, credential) =>
    Effect.map(reply, (answer) => {
      const { Origin: origin } = headers
      const cookie = sessionCookie(credentialOf(credential), typeof origin === "string" ? origin : undefined)
      return answer.status === 200 ? { ...answer, headers: [...answer.headers, ["set-cookie", cookie]] } : answer
    })

const browserRoutes: ReadonlyArray<Route<OrganizationSettings | Users>> = [
  route({
    method: "get",
    path: "/api/v1/auth/browser",
    name: "getCaller",
    summary: "Read who is signed in, and what they may do",
    description: "For pages: what somebody's role or scopes do not allow need not be shown to them. 401 if nobody is signed in.",
    success: CallerWire,
    errors: ["UserNotFound"],
    handle: ({ caller }) =>
      Effect.gen(function* () {
        const { timezone } = yield* OrganizationSettings.use((_) => _.preferences(caller.organizationId))
        const { userId } = caller
        const user = userId === undefined ? undefined : yield* Users.use((_) => _.get(userId))
        return callerWire(caller, user, timezone)
      })
  }),
  {
    ...route({
      method: "post",
      path: "/api/v1/auth/browser",
      name: "keepInBrowser",
      summary: "Keep the credential of this request in a cookie of the browser",
      description:
        "For pages that this engine serves, such as `/console`: their later requests need no other credential, and no script can read it. It is used only for requests that come from the same origin.",
      needs: "viewer",
      answeredBy: "this",
      headers: pageHeaders,
      success: Changed,
      handle: () => Effect.succeed(changed("The browser is signed in"))
    }),
    around: withCookie((headers) => headers["x-api-key"] ?? (headers["authorization"] ?? "").replace(/^bearer\s*/i, "").trim())
  },
  {
    ...route({
      method: "delete",
      path: "/api/v1/auth/browser",
      name: "forgetInBrowser",
      summary: "Remove that cookie",
      description: "The log-in or API key itself stays valid; `POST /auth/logout` ends the log-in.",
      access: "none",
      answeredBy: "this",
      headers: pageHeaders,
      success: Changed,
      handle: () => Effect.succeed(changed("The browser is signed out"))
    }),
    around: withCookie(() => "")
  }
]

export const sessionRoutes = tagged({ name: "Sessions", about: "The caller's log-ins, and their password." }, [
  ...browserRoutes,
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
