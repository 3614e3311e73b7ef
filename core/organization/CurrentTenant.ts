/**
 * For whom the current fiber works. Set once a request is authenticated: from then on the database shows it rows of this organization
 * alone, even to a query that forgets to name it. Undefined in the engine's own work, which spans organizations.
 */
import { Context } from "effect"
import type { OrganizationId } from "../Id.ts"

export const CurrentTenant = Context.Reference<OrganizationId | undefined>("core/organization/CurrentTenant", {
  defaultValue: () => undefined
})
