/** People: they sign up, log in, and act by their role in the organization that they have selected. */
import { Context, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "../Id.ts"
import * as SteadyCache from "../SteadyCache.ts"
import type { Caller, UserId } from "./Caller.ts"
import { CurrentTenant } from "./CurrentTenant.ts"
import { subscriberOf } from "../Network.ts"
import { KnownAddresses } from "./KnownAddresses.ts"
import { LoginLimit, type TooManyAttempts } from "./LoginLimit.ts"
import { type PasswordsBusy, PasswordTurns } from "./PasswordTurns.ts"
import { Passwords } from "./Passwords.ts"
import { type InvalidToken, Tokens } from "./Tokens.ts"
import {
  EmailTaken,
  LoginRefused,
  NoOrganization,
  type Onboarding,
  type OnboardingChanges,
  OrganizationNotFound,
  SignupDisabled,
  type User,
  UserNotFound,
  type UserOrganization
} from "./User.ts"
import * as store from "./UserStore.ts"

export interface NewUser {
  readonly email: string
  readonly password: string
  readonly name?: string | undefined
}

export interface Session {
  readonly token: string
  readonly user: User
  /** Undefined for a user who belongs to none any more. */
  readonly organizationId: OrganizationId | undefined
}

/** Who may sign up, and with what an organization that is made so begins. */
export const SignupPolicy = Context.Reference<{ readonly isOpen: boolean; readonly concurrencyLimit: number }>(
  "core/organization/SignupPolicy",
  { defaultValue: () => ({ isOpen: true, concurrencyLimit: 10 }) }
)

const rememberedMillis = 1000
const rememberedTokens = 10_000
const longestToken = 2048
const longestList = 1000

/** Too much was tried, or too many try. */
type Waits = TooManyAttempts | PasswordsBusy

export class Users extends Context.Service<
  Users,
  {
    /** Whether anybody may sign up. */
    readonly isSignupOpen: boolean
    /** Makes an organization too, which the new user owns. */
    readonly signUp: (user: NewUser, address: string) => Effect.Effect<Session, SignupDisabled | EmailTaken | Waits>
    /** Takes as long for an unknown e-mail address as for a wrong password. `address`: the network address of who asks. */
    readonly logIn: (email: string, password: string, address: string) => Effect.Effect<Session, LoginRefused | Waits>
    /** Whose token this is. What a change of role took away may be allowed for up to a second more. */
    readonly authenticate: (token: string) => Effect.Effect<Caller, InvalidToken | UserNotFound | NoOrganization>
    /** Has this node ask the database again who may what. */
    readonly forget: Effect.Effect<void>
    readonly get: (id: UserId) => Effect.Effect<User, UserNotFound>
    /** First joined first. */
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
        addresses: yield* KnownAddresses,
        limit: yield* LoginLimit,
        turns: yield* PasswordTurns,
        passwords: yield* Passwords,
        tokens: yield* Tokens,
        policy: yield* SignupPolicy
      }
      const { sql } = ports
      const callers = yield* SteadyCache.make((token: string) => lookup(ports, token), {
        capacity: rememberedTokens,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? rememberedMillis : 0)
      })
      return Users.of({
        isSignupOpen: ports.policy.isOpen,
        signUp: Effect.fn("Users.signUp")((user, address) => signUp(ports, user, address)),
        logIn: Effect.fn("Users.logIn")((email, password, address) => logIn(ports, email.toLowerCase(), password, address)),
        authenticate: callers.get,
        forget: callers.forgetAll,
        get: Effect.fn("Users.get")((id) => found(store.find(sql, id))),
        organizations: Effect.fn("Users.organizations")((id) => acrossTenants(Effect.orDie(store.organizations(sql, id)))),
        select: Effect.fn("Users.select")(function* (id, organizationId) {
          if (!(yield* acrossTenants(Effect.orDie(store.select(sql, id, organizationId))))) return yield* new OrganizationNotFound()
          yield* callers.forgetAll
        }),
        onboarding: Effect.fn("Users.onboarding")((id) => found(store.onboarding(sql, id))),
        setOnboarding: Effect.fn("Users.setOnboarding")((id, changes) => setOnboarding(sql, id, changes))
      })
    })
  ).pipe(Layer.provide([KnownAddresses.layer, LoginLimit.layer, PasswordTurns.layer]))
}

/** A user looks beyond the organization that the request is for. */
const acrossTenants = Effect.provideService(CurrentTenant, undefined)

interface Ports {
  readonly sql: SqlClient.SqlClient
  readonly addresses: KnownAddresses["Service"]
  readonly limit: LoginLimit["Service"]
  readonly turns: PasswordTurns["Service"]
  readonly passwords: Passwords["Service"]
  readonly tokens: Tokens["Service"]
  readonly policy: typeof SignupPolicy.Service
}

const found = <A, E>(row: Effect.Effect<A | undefined, E>): Effect.Effect<A, UserNotFound> =>
  Effect.flatMap(Effect.orDie(row), (value) => (value === undefined ? Effect.fail(new UserNotFound()) : Effect.succeed(value)))

const signUp = Effect.fnUntraced(function* (ports: Ports, { email, name, password }: NewUser, address: string) {
  if (!ports.policy.isOpen) return yield* new SignupDisabled()
  const subscriber = subscriberOf(address)
  yield* ports.limit.signUp(subscriber)
  const standing = ports.addresses.standingOf("", subscriber)
  const passwordHash = yield* ports.turns.take({ standing, key: subscriber }, ports.passwords.hash(password))
  const user = { email: email.toLowerCase(), name, passwordHash }
  const made = yield* Effect.orDie(store.insert(ports.sql, user, ports.policy.concurrencyLimit))
  if (made === undefined) return yield* new EmailTaken()
  yield* ports.addresses.loggedIn(made, subscriber)
  return { token: yield* ports.tokens.issue(made), user: made, organizationId: made.organizationId }
})

const logIn = Effect.fnUntraced(function* (ports: Ports, email: string, password: string, address: string) {
  const subscriber = subscriberOf(address)
  const attempt = { email, subscriber, standing: ports.addresses.standingOf(email, subscriber) }
  const key = attempt.standing === "familiar" ? `${subscriber} ${email}` : subscriber
  const check = Effect.gen(function* () {
    const user = yield* Effect.orDie(store.findByEmail(ports.sql, email))
    const isRight = yield* ports.passwords.verify(password, user?.passwordHash)
    return user === undefined || !isRight ? yield* new LoginRefused() : user
  })
  yield* ports.limit.attempt(attempt)
  const user = yield* ports.turns
    .take({ standing: attempt.standing, key }, check)
    .pipe(Effect.tapError(({ _tag }) => (_tag === "LoginRefused" ? Effect.void : ports.limit.withdrawn(attempt))))
  yield* ports.limit.succeeded(attempt)
  yield* ports.addresses.loggedIn(user, subscriber)
  return { token: yield* ports.tokens.issue(user), user, organizationId: user.organizationId ?? undefined }
})

const lookup = Effect.fnUntraced(function* ({ sql, tokens }: Ports, token: string) {
  const userId = yield* tokens.verify(token.slice(0, longestToken))
  const membership = yield* found(store.membership(sql, userId))
  const { organizationId, role } = membership
  if (organizationId === null || role === null) return yield* new NoOrganization()
  return { organizationId, role, userId } satisfies Caller
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
