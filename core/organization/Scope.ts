/** What a key may be used for, within its role. A key without scopes is unrestricted, and so is a user who has logged in. */
import { Schema } from "effect"

export const scopes = ["read", "calls", "campaigns", "agents", "admin"] as const
/**
 * - `read`: everything that changes nothing.
 * - `calls`: start calls.
 * - `campaigns`: create and change campaigns, and upload their lists.
 * - `agents`: create and change agents, and what they use.
 * - `admin`: everything else.
 */
export type Scope = (typeof scopes)[number]

export const hasScope = ({ scopes: own }: { readonly scopes?: ReadonlyArray<Scope> }, needed: Scope): boolean =>
  own === undefined || own.includes(needed)

export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", { scope: Schema.Literals(scopes) }) {}
