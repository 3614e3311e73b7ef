/**
 * The organization that the current fiber works for. It is set once a request is authenticated: from then on the database shows the fiber only
 * rows of this organization, even to a query that forgets to name it. Undefined in the engine's own work, which spans organizations.
 */
import { Context, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"

export const CurrentTenant = Context.Reference<OrganizationId | undefined>("core/organization/CurrentTenant", {
  defaultValue: () => undefined
})

/** Lets an effect see rows of all organizations. It has no effect inside a transaction that has already begun. */
export const acrossTenants = Effect.provideService(CurrentTenant, undefined)

/** The network address of the request that the current fiber answers, for limits that apply before authentication; else undefined. */
export const CurrentAddress = Context.Reference<string | undefined>("core/organization/CurrentAddress", {
  defaultValue: () => undefined
})
