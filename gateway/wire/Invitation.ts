/** Invitations into an organization. */
import { Redacted } from "effect"
import Type, { type Static } from "typebox"
import type { Invitation, InvitationId } from "#core/organization/Invitation.ts"
import type { NewInvitation } from "#core/organization/Invitations.ts"
import { Email, RoleWire } from "./Account.ts"
import { id, instant } from "#gateway/request/Field.ts"

const usualDays = 7
const mostDays = 30

export const InvitationPath = Type.Object({ invitation_id: id<InvitationId>() })

export const CreateInvitation = Type.Object(
  {
    email: Email,
    role: RoleWire,
    expires_in_days: Type.Integer({ minimum: 1, maximum: mostDays, default: usualDays })
  },
  { title: "CreateInvitation" }
)

export const newInvitationOf = ({ email, expires_in_days, role }: Static<typeof CreateInvitation>): NewInvitation => ({
  email,
  role,
  days: expires_in_days
})

const properties = {
  id: id<InvitationId>(),
  email: Type.String(),
  role: RoleWire,
  status: Type.Enum(["pending", "redeemed", "revoked", "expired"]),
  created_at: instant(),
  expires_at: instant()
}

const InvitationWire = Type.Object(properties, { title: "Invitation" })
export const InvitationList = Type.Object({ invitations: Type.Array(InvitationWire) }, { title: "InvitationList" })

export const invitationWire = (invitation: Invitation): Static<typeof InvitationWire> => ({
  id: invitation.id,
  email: invitation.email,
  role: invitation.role,
  status: invitation.status,
  created_at: invitation.createdAt.toISOString(),
  expires_at: invitation.expiresAt.toISOString()
})

export const NewInvitationWire = Type.Object(
  { ...properties, token: Type.String({ description: "Shown only once: give it to the person who is invited." }) },
  { title: "NewInvitation" }
)

export const newInvitationWire = (given: {
  readonly made: Invitation
  readonly token: Redacted.Redacted
}): Static<typeof NewInvitationWire> => ({ ...invitationWire(given.made), token: Redacted.value(given.token) })

export const RedeemInvitation = Type.Object({ token: Type.String({ maxLength: 100 }) }, { title: "RedeemInvitation" })
