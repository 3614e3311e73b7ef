/** What a key is good for, beside what its role allows. A key without scopes is good for everything, and so is a user who has logged in. */
import { Schema } from "effect"

export const scopes = ["read", "calls", "campaigns", "agents", "admin"] as const
/**
 * - `read`: everything that changes nothing.
 * - `calls`: start calls.
 * - `campaigns`: make and change campaigns, and upload their lists.
 * - `agents`: make and change agents, and what they use.
 * - `admin`: everything else.
 */
export type Scope = (typeof scopes)[number]

export const hasScope = ({ scopes: own }: { readonly scopes?: ReadonlyArray<Scope> }, needed: Scope): boolean =>
  own === undefined || own.includes(needed)

export class ScopeMissing extends Schema.TaggedError<ScopeMissing>()("ScopeMissing", { scope: Schema.Literals(scopes) }) {}
