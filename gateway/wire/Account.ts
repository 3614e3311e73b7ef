/** Users: signup, login, and a user's own data. */
import Type, { type Static } from "typebox"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "#core/organization/Caller.ts"
import { roles } from "#core/organization/Role.ts"
import type { Onboarding, OnboardingChanges, User, UserOrganization } from "#core/organization/User.ts"
import type { NewUser } from "#core/organization/SignUp.ts"
import type { Session } from "#core/organization/Users.ts"
import { id, instant, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

export const RoleWire = Type.Enum(roles)

const longestEmail = 254
const shortestPassword = 8
const longestPassword = 256

const isEmail = (text: string): boolean => /^[^\s@]+@[^\s@]+\.[^\s@.]+$/u.test(text)

/** Compared and stored in lower case. */
export const Email = Type.Refine(Type.String({ maxLength: longestEmail }), isEmail, () => "value is not a valid email address")

/** A new password. */
export const Password = Type.Refine(
  Type.String({ format: "password", maxLength: longestPassword, description: `At least ${shortestPassword} characters.` }),
  (password) => [...password].length >= shortestPassword,
  () => `Password must be at least ${shortestPassword} characters`
)

export const SignUp = Type.Object(
  {
    email: Email,
    password: Password,
    name: optional(Type.String({ maxLength: 255 })),
    invitation_token: optional(Type.String({ maxLength: 100, description: "Token of an invitation for this address." })),
    setup_code: optional(
      Type.String({ maxLength: 100, description: "For the first account: the code that the latest start of the engine printed." })
    )
  },
  { title: "SignUp" }
)

export const newUserOf = ({ email, invitation_token, name, password, setup_code }: Static<typeof SignUp>): NewUser => ({
  email,
  password,
  name: orUndefined(name),
  invitationToken: orUndefined(invitation_token),
  setUpCode: orUndefined(setup_code)
})

export const LogIn = Type.Object(
  { email: Type.String({ maxLength: longestEmail }), password: Type.String({ format: "password", maxLength: longestPassword }) },
  { title: "LogIn" }
)

export const UserWire = Type.Object(
  {
    id: id<UserId>(),
    email: Type.String(),
    name: nullable(Type.String()),
    organization_id: nullable(id<OrganizationId>("The organization that the user works for.")),
    provider_id: Type.String()
  },
  { title: "User" }
)

export const userWire = (user: User, organizationId: OrganizationId | undefined): Static<typeof UserWire> => ({
  id: user.id,
  email: user.email,
  name: user.name,
  organization_id: orNull(organizationId),
  provider_id: user.providerId
})

export const SessionWire = Type.Object(
  { token: Type.String({ description: "For `Authorization: Bearer`, 30 days." }), user: UserWire },
  { title: "Session" }
)

export const sessionWire = ({ organizationId, token, user }: Session): Static<typeof SessionWire> => ({
  token,
  user: userWire(user, organizationId)
})

export const AuthUserWire = Type.Object({ id: id<UserId>(), is_superuser: Type.Literal(false) }, { title: "AuthUser" })

export const SelectOrganization = Type.Object({ organization_id: id<OrganizationId>() }, { title: "SelectOrganization" })

export const UserOrganizationsWire = Type.Object(
  {
    organizations: Type.Array(
      Type.Object(
        { id: id<OrganizationId>(), name: Type.String(), role: RoleWire, is_selected: Type.Boolean() },
        { title: "UserOrganization" }
      )
    )
  },
  { title: "UserOrganizations" }
)

export const userOrganizationsWire = (organizations: ReadonlyArray<UserOrganization>): Static<typeof UserOrganizationsWire> => ({
  organizations: organizations.map(({ id, isSelected, name, role }) => ({ id, name, role, is_selected: isSelected }))
})

const names = () => Type.Array(Type.String({ maxLength: 100 }), { maxItems: 200 })

export const SetOnboarding = Type.Object(
  {
    completed_at: optional(instant()),
    skipped: optional(Type.Boolean()),
    seen_tooltips: optional(names()),
    completed_actions: optional(names())
  },
  { title: "SetOnboarding" }
)

export const onboardingOf = (body: Static<typeof SetOnboarding>): OnboardingChanges => ({
  completedAt: orUndefined(body.completed_at),
  skipped: orUndefined(body.skipped),
  seenTooltips: orUndefined(body.seen_tooltips),
  completedActions: orUndefined(body.completed_actions)
})

export const OnboardingWire = Type.Object(
  {
    completed_at: nullable(Type.String()),
    skipped: Type.Boolean(),
    seen_tooltips: Type.Array(Type.String()),
    completed_actions: Type.Array(Type.String())
  },
  { title: "Onboarding" }
)

export const onboardingWire = (onboarding: Onboarding): Static<typeof OnboardingWire> => ({
  completed_at: onboarding.completedAt,
  skipped: onboarding.skipped,
  seen_tooltips: [...onboarding.seenTooltips],
  completed_actions: [...onboarding.completedActions]
})
