/** A person who logs in, and works for one organization at a time. */
import { Schema } from "effect"
import type { OrganizationId } from "#core/Id.ts"
import type { UserId } from "./Caller.ts"
import type { Role } from "./Role.ts"

export interface User {
  readonly id: UserId
  /** In lower case. */
  readonly email: string
  readonly name: string | null
  /** Opaque, for whoever keeps users elsewhere too. */
  readonly providerId: string
}

/** An organization that a user belongs to. */
export interface UserOrganization {
  readonly id: OrganizationId
  readonly name: string
  readonly role: Role
  /** The one that the user works for. */
  readonly isSelected: boolean
}

/** Where a user has got to in the user interface. */
export interface Onboarding {
  /** As the client wrote it. */
  readonly completedAt: string | null
  readonly skipped: boolean
  readonly seenTooltips: ReadonlyArray<string>
  readonly completedActions: ReadonlyArray<string>
}

/** What is left out stays; the lists only grow. */
export interface OnboardingChanges {
  readonly completedAt?: string | undefined
  readonly skipped?: boolean | undefined
  readonly seenTooltips?: ReadonlyArray<string> | undefined
  readonly completedActions?: ReadonlyArray<string> | undefined
}

/** Not invited, not the first, or there is such an account with another password: which of these is nobody's business. */
export class SignupRefused extends Schema.TaggedError<SignupRefused>()("SignupRefused", {}) {}
export class SignupDisabled extends Schema.TaggedError<SignupDisabled>()("SignupDisabled", {}) {}
/** Unknown address or wrong password: which of these is nobody's business. */
export class LoginRefused extends Schema.TaggedError<LoginRefused>()("LoginRefused", {}) {}
export class UserNotFound extends Schema.TaggedError<UserNotFound>()("UserNotFound", {}) {}
/** The user belongs to no organization any more. */
export class NoOrganization extends Schema.TaggedError<NoOrganization>()("NoOrganization", {}) {}
/** What was asked for is a user's own, and the key that asks is nobody's. */
export class KeyWithoutUser extends Schema.TaggedError<KeyWithoutUser>()("KeyWithoutUser", {}) {}
/** What was asked for is beyond the organization of a key: only a user who has logged in may. */
export class LoginNeeded extends Schema.TaggedError<LoginNeeded>()("LoginNeeded", {}) {}
/** The user does not belong to that organization, if there is one. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {}) {}
