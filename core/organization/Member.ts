/** A user in an organization. */
import { Schema } from "effect"
import type { UserId } from "./Caller.ts"
import type { Role } from "./Role.ts"

export interface Member {
  readonly userId: UserId
  readonly email: string
  readonly name: string | null
  readonly role: Role
  /** When the user joined. */
  readonly createdAt: Date
}

export class MemberNotFound extends Schema.TaggedError<MemberNotFound>()("MemberNotFound", {}) {}
export class AlreadyMember extends Schema.TaggedError<AlreadyMember>()("AlreadyMember", {}) {}
/** The change would leave the organization without an owner. */
export class LastOwner extends Schema.TaggedError<LastOwner>()("LastOwner", {}) {}
