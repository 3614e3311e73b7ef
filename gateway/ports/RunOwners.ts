/** Port: whose run this is, when only its number is known. */
import { Context, type Effect } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"

export class RunOwners extends Context.Service<
  RunOwners,
  {
    /** False too when there is no such run. */
    readonly owns: (organizationId: OrganizationId, id: RunId) => Effect.Effect<boolean>
  }
>()("gateway/ports/RunOwners") {}
