/** Who is signed in, and what they may do: what they may not do is not shown to them, and the API would refuse it. */
import { signal } from "@preact/signals"
import type { Caller } from "./types.ts"

/** Undefined until the API has told. */
export const caller = signal<Caller | undefined>(undefined)

const ranks: Readonly<Record<Caller["role"], number>> = { viewer: 0, member: 1, admin: 2, owner: 3 }
type Scope = NonNullable<Caller["scopes"]>[number]

/** Whether somebody of this role may do it, with a key that has this scope. */
export const may = (role: Caller["role"], scope: Scope): boolean => {
  const { value: present } = caller
  return present !== undefined && ranks[present.role] >= ranks[role] && (present.scopes === null || present.scopes.includes(scope))
}

/** The roles that somebody may give: up to their own. */
export const rolesToGive = (): ReadonlyArray<Caller["role"]> =>
  // Cast: the names of a record are its keys.
  (Object.keys(ranks) as ReadonlyArray<Caller["role"]>).filter((role) => may(role, "admin"))
