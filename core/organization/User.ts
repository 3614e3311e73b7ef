/** A person who logs in, and works for one organization at a time. */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "./Caller.ts"
import type { Role } from "./Role.ts"

export interface User {
  readonly id: UserId
  /** The address in lower case. */
  readonly email: string
  readonly name: string | null
  /** An opaque id for systems that keep users too. */
  readonly providerId: string
}

/** An organization that a user belongs to. */
export interface UserOrganization {
  readonly id: OrganizationId
  readonly name: string
  readonly role: Role
  /** Whether the user currently works for it. */
  readonly isSelected: boolean
}

/** The user's progress through the user interface's introduction. */
export interface Onboarding {
  /** The text as the client sent it. */
  readonly completedAt: string | null
  readonly skipped: boolean
  readonly seenTooltips: ReadonlyArray<string>
  readonly completedActions: ReadonlyArray<string>
}

/** Omitted fields stay unchanged; the lists only grow. */
export interface OnboardingChanges {
  readonly completedAt?: string | undefined
  readonly skipped?: boolean | undefined
  readonly seenTooltips?: ReadonlyArray<string> | undefined
  readonly completedActions?: ReadonlyArray<string> | undefined
}

/** The user was not invited, is not the first, or gave a wrong password for an existing account. Callers must not learn which. */
export class SignupRefused extends Schema.TaggedError<SignupRefused>()("SignupRefused", {}) {}
export class SignupDisabled extends Schema.TaggedError<SignupDisabled>()("SignupDisabled", {}) {}
/** The address is unknown or the password is wrong. Callers must not learn which. */
export class LoginRefused extends Schema.TaggedError<LoginRefused>()("LoginRefused", {}) {}
export class UserNotFound extends Schema.TaggedError<UserNotFound>()("UserNotFound", {}) {}
/** The user no longer belongs to any organization. */
export class NoOrganization extends Schema.TaggedError<NoOrganization>()("NoOrganization", {}) {}
/** The request concerns a user's own data, but its key belongs to no user. */
export class KeyWithoutUser extends Schema.TaggedError<KeyWithoutUser>()("KeyWithoutUser", {}) {}
/** The request reaches beyond a key's organization, so only a user who has logged in may make it. */
export class LoginNeeded extends Schema.TaggedError<LoginNeeded>()("LoginNeeded", {}) {}
/** The organization does not exist, or the user does not belong to it. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {}) {}
