/** Whether a known caller may use a route: by role, by scope, and as an operator. */
import type { Caller } from "#core/organization/Caller.ts"
import { OperatorNeeded } from "#core/organization/Quota.ts"
import { includes, RoleTooLow } from "#core/organization/Role.ts"
import { hasScope, ScopeMissing } from "#core/organization/Scope.ts"
import type { Route } from "./Route.ts"

/** Undefined: allowed. */
export const forbidden = (
  { needs, scope }: Pick<Route, "needs" | "scope">,
  caller: Caller
): OperatorNeeded | RoleTooLow | ScopeMissing | undefined => {
  if (needs !== "operator" && !includes(caller.role, needs)) return new RoleTooLow()
  if (!hasScope(caller, scope)) return new ScopeMissing({ scope })
  return needs === "operator" && caller.isOperator !== true ? new OperatorNeeded() : undefined
}
