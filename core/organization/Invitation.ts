/** An open place in an organization, given to a person who brings the token. */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { Role } from "./Role.ts"

export const InvitationId = Schema.Int.pipe(Schema.brand("InvitationId"))
export type InvitationId = typeof InvitationId.Type

type InvitationStatus = "pending" | "redeemed" | "revoked" | "expired"

export interface Invitation {
  readonly id: InvitationId
  /** The address in lower case. */
  readonly email: string
  readonly role: Role
  readonly status: InvitationStatus
  readonly createdAt: Date
  readonly expiresAt: Date
}

/** The membership that an invitation token grants. */
export interface Place {
  readonly invitationId: InvitationId
  readonly organizationId: OrganizationId
  readonly role: Role
}

export class InvitationNotFound extends Schema.TaggedError<InvitationNotFound>()("InvitationNotFound", {}) {}
/** The token is unknown, expired, revoked, used, or for another e-mail address. Callers must not learn which. */
export class InvitationRefused extends Schema.TaggedError<InvitationRefused>()("InvitationRefused", {}) {}
export class TooManyInvitations extends Schema.TaggedError<TooManyInvitations>()("TooManyInvitations", { limit: Schema.Int }) {}
