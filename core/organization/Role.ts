/** What someone may do in an organization. Each role may all that the ones before it may. */
import { Schema } from "effect"

export const roles = ["viewer", "member", "admin", "owner"] as const

export const Role = Schema.Literals(roles)
/**
 * - `viewer`: look at everything.
 * - `member`: work with agents, campaigns and calls.
 * - `admin`: keys, telephony, settings and members.
 * - `owner`: the other owners too. An organization that has members has one.
 */
export type Role = typeof Role.Type

export const includes = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed)

/** The one that may less. */
export const lesser = (one: Role, other: Role): Role => (includes(one, other) ? other : one)

/** What was asked for is more than the asking role may. */
export class RoleTooLow extends Schema.TaggedError<RoleTooLow>()("RoleTooLow", {}) {}
