/** /api/v1/auth and /api/v1/user: people, and what is theirs. */
import { Effect } from "effect"
import type { Caller, UserId } from "#core/organization/Caller.ts"
import { KeyWithoutUser } from "#core/organization/User.ts"
import { Users } from "#core/organization/Users.ts"
import { loggedIn } from "#gateway/request/loggedIn.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  AuthUserWire,
  LogIn,
  newUserOf,
  onboardingOf,
  OnboardingWire,
  onboardingWire,
  SelectOrganization,
  SessionWire,
  sessionWire,
  SetOnboarding,
  SignUp,
  UserOrganizationsWire,
  userOrganizationsWire,
  UserWire,
  userWire
} from "#gateway/wire/Account.ts"

/** Who logged in, or made the key. */
const userOf = ({ userId }: Caller): Effect.Effect<UserId, KeyWithoutUser> =>
  userId === undefined ? Effect.fail(new KeyWithoutUser()) : Effect.succeed(userId)

export const accountRoutes = tagged({ name: "Accounts", about: "People who log in with a password." }, [
  route({
    method: "post",
    path: "/api/v1/auth/signup",
    name: "signUp",
    summary: "Sign up",
    description:
      "By default for those who were invited, with the token of the invitation, and for the first account, which owns the first organization: it brings the set-up code that is printed at the first start, or asks from the machine itself. Where anybody may sign up, the user gets an organization to own. With the password of an account that exists, that one joins or logs in.",
    access: "none",
    body: SignUp,
    success: SessionWire,
    errors: ["SignupDisabled", "SignupRefused", "PasswordsBusy", "TooManyAttempts"],
    handle: ({ body, client }) => Users.use((_) => _.signUp(newUserOf(body), client)).pipe(Effect.map(sessionWire))
  }),
  route({
    method: "post",
    path: "/api/v1/auth/login",
    name: "logIn",
    summary: "Log in",
    description:
      "429 after too many failures, for the address or for the account. Addresses from which somebody has logged in to the account before have a budget of their own, and go first.",
    access: "none",
    body: LogIn,
    success: SessionWire,
    errors: ["LoginRefused", "PasswordsBusy", "TooManyAttempts"],
    handle: ({ body, client }) => Users.use((_) => _.logIn(body.email, body.password, client.address)).pipe(Effect.map(sessionWire))
  }),
  route({
    method: "get",
    path: "/api/v1/auth/me",
    name: "getMe",
    summary: "Who asks",
    success: UserWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ caller }) =>
      Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.get(id))).pipe(Effect.map((user) => userWire(user, caller.organizationId)))
  }),
  route({
    method: "get",
    path: "/api/v1/user/auth/user",
    name: "getAuthUser",
    summary: "The id of who asks",
    success: AuthUserWire,
    errors: ["KeyWithoutUser"],
    // There is no role above that of an organization's owner.
    handle: ({ caller }) => Effect.map(userOf(caller), (id) => ({ id, is_superuser: false as const }))
  }),
  route({
    method: "get",
    path: "/api/v1/user/organizations",
    name: "listUserOrganizations",
    summary: "The organizations of who asks, first joined first",
    success: UserOrganizationsWire,
    errors: ["LoginNeeded"],
    handle: ({ caller }) =>
      Effect.flatMap(loggedIn(caller), (id) => Users.use((_) => _.organizations(id))).pipe(Effect.map(userOrganizationsWire))
  }),
  route({
    method: "put",
    path: "/api/v1/user/organization",
    name: "selectOrganization",
    summary: "Work for another organization from now on",
    needs: "viewer",
    body: SelectOrganization,
    success: UserOrganizationsWire,
    errors: ["LoginNeeded", "OrganizationNotFound"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const users = yield* Users
        const id = yield* loggedIn(caller)
        yield* users.select(id, body.organization_id)
        return userOrganizationsWire(yield* users.organizations(id))
      })
  }),
  route({
    method: "get",
    path: "/api/v1/user/onboarding-state",
    name: "getOnboardingState",
    summary: "How far who asks has got with the user interface",
    success: OnboardingWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ caller }) => Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.onboarding(id))).pipe(Effect.map(onboardingWire))
  }),
  route({
    method: "put",
    path: "/api/v1/user/onboarding-state",
    name: "setOnboardingState",
    summary: "Get further with the user interface",
    description: "What is left out stays as it is; the lists are added to.",
    needs: "viewer",
    body: SetOnboarding,
    success: OnboardingWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ body, caller }) =>
      Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.setOnboarding(id, onboardingOf(body)))).pipe(Effect.map(onboardingWire))
  })
])
