/** Port: tells who owns a run of which only the id is known. */
import { Context, type Effect } from "effect"
import type { OrganizationId, RunId } from "#core/Id.ts"

export class RunOwners extends Context.Service<
  RunOwners,
  {
    /** Also false if there is no such run. */
    readonly owns: (organizationId: OrganizationId, id: RunId) => Effect.Effect<boolean>
  }
>()("gateway/ports/RunOwners") {}
