/** /api/v1/organizations/invitations, and /api/v1/user/invitations/redeem for invited users who have an account. */
import { Effect } from "effect"
import { Invitations } from "#core/organization/Invitations.ts"
import { Users } from "#core/organization/Users.ts"
import { loggedIn } from "#gateway/request/loggedIn.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import { UserOrganizationsWire, userOrganizationsWire } from "#gateway/wire/Account.ts"
import { Changed, changed } from "#gateway/wire/ApiKey.ts"
import {
  CreateInvitation,
  InvitationList,
  InvitationPath,
  invitationWire,
  newInvitationOf,
  NewInvitationWire,
  newInvitationWire,
  RedeemInvitation
} from "#gateway/wire/Invitation.ts"

export const invitationRoutes = tagged({ name: "Invitations", about: "Invitations to join the organization." }, [
  route({
    method: "get",
    path: "/api/v1/organizations/invitations",
    name: "listInvitations",
    summary: "List invitations, newest first",
    description: "With the role that each offers and what has become of it. Their tokens are not shown.",
    needs: "admin",
    success: InvitationList,
    handle: ({ caller }) =>
      Invitations.use((_) => _.list(caller.organizationId)).pipe(
        Effect.map((invitations) => ({ invitations: invitations.map(invitationWire) }))
      )
  }),
  route({
    method: "post",
    path: "/api/v1/organizations/invitations",
    name: "createInvitation",
    summary: "Invite somebody",
    description:
      "The token can be used once, for that e-mail address, to sign up or, with an existing account, to join. It becomes void when its creator leaves the organization or loses the right to grant that role, and when the API key that created it is archived or expires. A key with scopes cannot create invitations.",
    needs: "admin",
    body: CreateInvitation,
    success: NewInvitationWire,
    errors: ["AlreadyMember", "RoleTooLow", "ScopeMissing", "TooManyInvitations"],
    handle: ({ body, caller }) => Invitations.use((_) => _.invite(caller, newInvitationOf(body))).pipe(Effect.map(newInvitationWire))
  }),
  route({
    method: "delete",
    path: "/api/v1/organizations/invitations/:invitation_id",
    name: "revokeInvitation",
    summary: "Revoke an invitation",
    description:
      "Its token is refused from now on. 403 for an invitation to a role above the caller's, 404 if there is no such invitation.",
    needs: "admin",
    params: InvitationPath,
    success: Changed,
    errors: ["InvitationNotFound", "RoleTooLow"],
    handle: ({ caller, params }) =>
      Effect.as(
        Invitations.use((_) => _.revoke(caller, params.invitation_id)),
        changed("Invitation revoked successfully")
      )
  }),
  route({
    method: "post",
    path: "/api/v1/user/invitations/redeem",
    name: "redeemInvitation",
    summary: "Accept an invitation, and switch to its organization",
    description:
      "Makes the logged-in user a member with the role that was offered. 400 for a token that is unknown, used, revoked or expired; 403 for an API key.",
    needs: "viewer",
    body: RedeemInvitation,
    success: UserOrganizationsWire,
    errors: ["LoginNeeded", "InvitationRefused", "UserNotFound"],
    handle: ({ body, caller }) =>
      Effect.gen(function* () {
        const id = yield* loggedIn(caller)
        yield* Invitations.use((_) => _.redeem(id, body.token))
        return userOrganizationsWire(yield* Users.use((_) => _.organizations(id)))
      })
  })
])
