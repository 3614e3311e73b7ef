/** What someone may do in an organization. Each role includes the permissions of the one before it. */
import { Schema } from "effect"

export const roles = ["viewer", "member", "admin", "owner"] as const

export const Role = Schema.Literals(roles)
/**
 * - `viewer`: view everything.
 * - `member`: work with agents, campaigns and calls.
 * - `admin`: manage keys, telephony, settings and members.
 * - `owner`: manage the other owners too. An organization that has members has at least one owner.
 */
export type Role = typeof Role.Type

export const includes = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** The role with fewer permissions. */
export const lesser = (one: Role, other: Role): Role => (includes(one, other) ? other : one)

/** The request needs a higher role. */
export class RoleTooLow extends Schema.TaggedError<RoleTooLow>()("RoleTooLow", {}) {}
