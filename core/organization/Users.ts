/** People: they sign up, log in, and act in the organization that they have selected, in their role there. */
import { Context, Effect, Exit, Layer } from "effect"
import { Digest } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import * as SteadyCache from "#core/SteadyCache.ts"
import type { Caller, UserId } from "./Caller.ts"
import { acrossTenants } from "./CurrentTenant.ts"
import { everywhere } from "./ForgottenEverywhere.ts"
import { type Account, PasswordChecks, type Shown, type Waits } from "./PasswordChecks.ts"
import { allowanceOf } from "./Quota.ts"
import { type NewUser, signUp, SignupPolicy } from "./SignUp.ts"
import type { OpenSession, PasswordWrong, SessionId, SessionNotFound } from "./Session.ts"
import { type PasswordChange, sessionsOf } from "./Sessions.ts"
import * as sessions from "./SessionStore.ts"
import { InvalidToken, sessionHours, Tokens } from "./Tokens.ts"
import {
  LoginRefused,
  NoOrganization,
  type Onboarding,
  type OnboardingChanges,
  OrganizationNotFound,
  type SignupDisabled,
  SignupRefused,
  type User,
  UserNotFound,
  type UserOrganization
} from "./User.ts"
import * as store from "./UserStore.ts"
import { type TooManyWrongKeys, WrongCredentials } from "./WrongKeys.ts"

export interface Session {
  readonly token: string
  readonly user: User
  /** Undefined for a user who no longer belongs to any. */
  readonly organizationId: OrganizationId | undefined
}

const rememberedMillis = 1000
const rememberedTokens = 10_000
const longestToken = 2048
const longestList = 1000

export class Users extends Context.Service<
  Users,
  {
    /** Whether sign-up is possible at all, even if only with an invitation. */
    readonly isSignupOpen: boolean
    /** `address` is the client's network address, here and below. */
    readonly signUp: (user: NewUser, address: string) => Effect.Effect<Session, SignupDisabled | SignupRefused | Waits>
    /** Takes as long for an unknown e-mail address as for a wrong password. */
    readonly logIn: (email: string, password: string, address: string) => Effect.Effect<Session, LoginRefused | Waits>
    /**
     * Returns the caller that the token belongs to. Unless it `isFresh`, that may be what was true a second ago. Invalid tokens count against
     * `subscriber`.
     */
    readonly authenticate: (
      token: string,
      subscriber?: string,
      isFresh?: boolean
    ) => Effect.Effect<Caller, InvalidToken | UserNotFound | NoOrganization | TooManyWrongKeys>
    /** Makes all engines read permissions from the database again. */
    readonly forget: Effect.Effect<void>
    /** Newest first. */
    readonly sessions: (id: UserId) => Effect.Effect<ReadonlyArray<OpenSession>>
    readonly endSession: (id: UserId, session: SessionId) => Effect.Effect<void, SessionNotFound>
    readonly endSessions: (id: UserId) => Effect.Effect<void>
    /** Ends all sessions except `session`. */
    readonly changePassword: (
      id: UserId,
      session: SessionId | undefined,
      change: PasswordChange
    ) => Effect.Effect<void, PasswordWrong | UserNotFound | Waits>
    readonly get: (id: UserId) => Effect.Effect<User, UserNotFound>
    /** Sorted by when the user joined. */
    readonly organizations: (id: UserId) => Effect.Effect<ReadonlyArray<UserOrganization>>
    readonly select: (id: UserId, organizationId: OrganizationId) => Effect.Effect<void, OrganizationNotFound>
    readonly onboarding: (id: UserId) => Effect.Effect<Onboarding, UserNotFound>
    readonly setOnboarding: (id: UserId, changes: OnboardingChanges) => Effect.Effect<Onboarding, UserNotFound>
  }
>()("core/organization/Users") {
  static readonly layer = Layer.effect(
    Users,
    Effect.gen(function* () {
      const ports = {
        sql: yield* SqlClient.SqlClient,
        checks: yield* PasswordChecks,
        tokens: yield* Tokens,
        policy: yield* SignupPolicy
      }
      const { sql } = ports
      const wrong = yield* WrongCredentials
      const callers = yield* SteadyCache.make((token: string) => lookup(ports, token), {
        capacity: rememberedTokens,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberedMillis : 0)
      })
      const forget = yield* everywhere(callers.forgetAll)
      return Users.of({
        isSignupOpen: ports.policy.mode !== "off",
        signUp: Effect.fn("Users.signUp")((user, address) =>
          Effect.flatMap(signUp(ports, user, address), (account) => session(ports, account, address)).pipe(
            Effect.catchTag("LoginRefused", () => Effect.fail(new SignupRefused())),
            Effect.provide(Digest.layerWebCrypto)
          )
        ),
        logIn: Effect.fn("Users.logIn")((email, password, address) => logIn(ports, { email, password, address })),
        authenticate: (token, subscriber, isFresh = false) => {
          if (token.length > longestToken) return Effect.fail(new InvalidToken())
          const found = isFresh ? callers.getAfresh(token) : callers.get(token)
          return subscriber === undefined ? found : wrong.within(subscriber, token, found)
        },
        forget,
        ...sessionsOf(sql, ports.checks, forget),
        get: Effect.fn("Users.get")((id) => found(store.find(sql, id))),
        organizations: Effect.fn("Users.organizations")((id) => acrossTenants(Effect.orDie(store.organizations(sql, id)))),
        select: Effect.fn("Users.select")(function* (id, organizationId) {
          if (!(yield* acrossTenants(Effect.orDie(store.select(sql, id, organizationId))))) return yield* new OrganizationNotFound()
          yield* forget
        }),
        onboarding: Effect.fn("Users.onboarding")((id) => found(store.onboarding(sql, id))),
        setOnboarding: Effect.fn("Users.setOnboarding")((id, changes) => setOnboarding(sql, id, changes))
      })
    })
  ).pipe(Layer.provide([PasswordChecks.layer, WrongCredentials.layer]))
}

interface Ports {
  readonly sql: SqlClient.SqlClient
  readonly checks: PasswordChecks["Service"]
  readonly tokens: Tokens["Service"]
  readonly policy: typeof SignupPolicy.Service
}

const found = <A, E>(row: Effect.Effect<A | undefined, E>): Effect.Effect<A, UserNotFound> =>
  Effect.flatMap(Effect.orDie(row), (value) => (value === undefined ? Effect.fail(new UserNotFound()) : Effect.succeed(value)))

const logIn = Effect.fnUntraced(function* (ports: Ports, shown: Shown) {
  const account = yield* ports.checks.account(shown)
  const begun = yield* session(ports, account, shown.address)
  yield* ports.checks.noted("logIn", account, shown.address)
  yield* ports.checks.arrived(account, shown.address)
  return begun
})

const session = Effect.fnUntraced(function* ({ sql, tokens }: Ports, account: Account, address: string) {
  const { id: userId, passwordHash } = account
  const id = yield* Effect.orDie(sessions.begin(sql, { address, hours: sessionHours, passwordHash, userId }))
  if (id === undefined) return yield* new LoginRefused()
  const token = yield* tokens.issue(account, id)
  return { token, user: account, organizationId: account.organizationId ?? undefined } satisfies Session
})

const lookup = Effect.fnUntraced(function* ({ sql, tokens }: Ports, token: string) {
  const { sessionId, userId } = yield* tokens.verify(token)
  const { allowance, isOpen, organizationId, role } = yield* found(store.membership(sql, userId, sessionId))
  if (sessionId === undefined || !isOpen) return yield* new InvalidToken()
  if (organizationId === null || role === null) return yield* new NoOrganization()
  return { organizationId, role, userId, sessionId, allowance: allowanceOf(allowance) } satisfies Caller
})

const union = (one: ReadonlyArray<string>, other: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  [...new Set([...one, ...other])].slice(0, longestList)

const setOnboarding = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: UserId, changes: OnboardingChanges) {
  const change = Effect.gen(function* () {
    const before = yield* found(store.lockOnboarding(sql, id))
    const after: Onboarding = {
      completedAt: changes.completedAt ?? before.completedAt,
      skipped: changes.skipped ?? before.skipped,
      seenTooltips: union(before.seenTooltips, changes.seenTooltips),
      completedActions: union(before.completedActions, changes.completedActions)
    }
    yield* store.setOnboarding(sql, id, after)
    return after
  })
  return yield* sql.withTransaction(change).pipe(Effect.catchTag("SqlError", Effect.die))
})
