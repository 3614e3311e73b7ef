/** The services that organizations have configured, cached for calls until they change, so that a call needs no query for them. */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { OrganizationId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import type { ModelConfiguration } from "./ModelConfiguration.ts"
import { find } from "./ModelConfigurationStore.ts"
import { servicesOf } from "./ModelDocument.ts"

const remembered = 1000

export class OrganizationModels extends Context.Service<
  OrganizationModels,
  {
    readonly get: (id: OrganizationId) => Effect.Effect<ModelConfiguration>
    /** Must be run after each change has been committed, or may have been. */
    readonly changed: (id: OrganizationId) => Effect.Effect<void>
    /** Calls `tell` after each change that is announced here: other nodes have caches of their own. */
    readonly onChange: (tell: (id: OrganizationId) => void) => void
    /** To be run when changes on other nodes may have been missed. */
    readonly forgetAll: Effect.Effect<void>
  }
>()("core/model/OrganizationModels") {
  // A single instance per process, because it must be told of every change.
  static readonly layer = Layer.effect(
    OrganizationModels,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      const lookUp = (id: OrganizationId) => find(sql, id).pipe(Effect.map(servicesOf), Effect.provideService(Sealer, sealer), Effect.orDie)
      const configurations = yield* Cache.makeWith(lookUp, {
        capacity: remembered,
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
      })
      const tells: Array<(id: OrganizationId) => void> = []
      return OrganizationModels.of({
        get: (id) => Cache.get(configurations, id),
        changed: (id) =>
          Effect.andThen(
            Cache.invalidate(configurations, id),
            Effect.sync(() => tells.forEach((tell) => void tell(id)))
          ),
        onChange: (tell) => void tells.push(tell),
        forgetAll: Cache.invalidateAll(configurations)
      })
    })
  )
}
