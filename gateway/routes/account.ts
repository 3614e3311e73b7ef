/** /api/v1/auth and /api/v1/user: users and their personal settings. */
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

/** The logged-in user, or the user who created the API key. */
const userOf = ({ userId }: Caller): Effect.Effect<UserId, KeyWithoutUser> =>
  userId === undefined ? Effect.fail(new KeyWithoutUser()) : Effect.succeed(userId)

export const accountRoutes = tagged({ name: "Accounts", about: "People who log in with a password." }, [
  route({
    method: "post",
    path: "/api/v1/auth/signup",
    name: "signUp",
    summary: "Sign up",
    description:
      "By default, invited users can sign up, with the token of their invitation, and so can the first user, who becomes the owner of the first organization: that request carries the set-up code that the engine prints when it starts. Where sign-up is open to anybody, the user gets an organization of their own. With the password of an existing account, that user joins or logs in.",
    access: "none",
    body: SignUp,
    success: SessionWire,
    errors: ["SignupDisabled", "SignupRefused", "PasswordsBusy", "TooManyAttempts"],
    handle: ({ body, client }) => Users.use((_) => _.signUp(newUserOf(body), client.address)).pipe(Effect.map(sessionWire))
  }),
  route({
    method: "post",
    path: "/api/v1/auth/login",
    name: "logIn",
    summary: "Log in",
    description:
      "429 after too many failures for the address or the account. Addresses from which the account has logged in before have a budget of their own, and take precedence.",
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
    summary: "Read the current user",
    description: "The user whose log-in or API key the request carries. 401 for a key that belongs to no user, such as the first one.",
    success: UserWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ caller }) =>
      Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.get(id))).pipe(Effect.map((user) => userWire(user, caller.organizationId)))
  }),
  route({
    method: "get",
    path: "/api/v1/user/auth/user",
    name: "getAuthUser",
    summary: "Read the id of the current user",
    description: "For clients of the existing product. 401 for a key that belongs to no user.",
    success: AuthUserWire,
    errors: ["KeyWithoutUser"],
    // No role is above the owner of an organization.
    handle: ({ caller }) => Effect.map(userOf(caller), (id) => ({ id, is_superuser: false as const }))
  }),
  route({
    method: "get",
    path: "/api/v1/user/organizations",
    name: "listUserOrganizations",
    summary: "List the current user's organizations, in the order of joining",
    description: "With the user's role in each, and which one the log-in works in. 403 for an API key.",
    success: UserOrganizationsWire,
    errors: ["LoginNeeded"],
    handle: ({ caller }) =>
      Effect.flatMap(loggedIn(caller), (id) => Users.use((_) => _.organizations(id))).pipe(Effect.map(userOrganizationsWire))
  }),
  route({
    method: "put",
    path: "/api/v1/user/organization",
    name: "selectOrganization",
    summary: "Switch to another organization",
    description:
      "This and all later requests of the user's log-ins work in that organization, with the user's role there. 403 for an API key, 404 if the user is not a member.",
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
    summary: "Read the current user's progress through the user interface",
    description: "What the existing product's pages have shown this user already. 401 for a key that belongs to no user.",
    success: OnboardingWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ caller }) => Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.onboarding(id))).pipe(Effect.map(onboardingWire))
  }),
  route({
    method: "put",
    path: "/api/v1/user/onboarding-state",
    name: "setOnboardingState",
    summary: "Record progress through the user interface",
    description: "Fields that are left out stay as they are; lists are appended to.",
    needs: "viewer",
    body: SetOnboarding,
    success: OnboardingWire,
    errors: ["KeyWithoutUser", "UserNotFound"],
    handle: ({ body, caller }) =>
      Effect.flatMap(userOf(caller), (id) => Users.use((_) => _.setOnboarding(id, onboardingOf(body)))).pipe(Effect.map(onboardingWire))
  })
])
