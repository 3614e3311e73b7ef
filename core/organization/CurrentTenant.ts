/**
 * For whom the current fiber works. Set once a request is authenticated: from then on the database shows it rows of this organization
 * alone, even to a query that forgets to name it. Undefined in the engine's own work, which spans organizations.
 */
import { Context, Effect } from "effect"
import type { OrganizationId } from "#core/Id.ts"

export const CurrentTenant = Context.Reference<OrganizationId | undefined>("core/organization/CurrentTenant", {
  defaultValue: () => undefined
})

/** For what looks beyond the organization that a request is for. In a transaction that has begun it changes nothing. */
export const acrossTenants = Effect.provideService(CurrentTenant, undefined)

/** From where the request came that the current fiber answers, for what nobody has been recognized for yet. Undefined in the engine's own work. */
export const CurrentAddress = Context.Reference<string | undefined>("core/organization/CurrentAddress", {
  defaultValue: () => undefined
})
