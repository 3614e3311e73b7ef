/** The versions that calls use, cached because a version's content never changes. */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentDefinitionId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import type { AgentVersion } from "./Agent.ts"
import * as store from "./AgentVersionStore.ts"
import { flawOf } from "./GraphRules.ts"

const remembered = 1000

interface CheckedVersion extends AgentVersion {
  /** Why calls must not use the version; undefined if they may. */
  readonly flaw: string | undefined
}

export class AgentVersions extends Context.Service<
  AgentVersions,
  {
    /** Not restricted to a tenant: the id comes from the engine's own rows. */
    readonly get: (id: AgentDefinitionId) => Effect.Effect<CheckedVersion>
  }
>()("core/agent/AgentVersions") {
  static readonly layer = Layer.effect(
    AgentVersions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      const versions = yield* Cache.makeWith((id: AgentDefinitionId) => Effect.provideService(find(sql, id), Sealer, sealer), {
        capacity: remembered,
        // A failed lookup is not cached: a connection may have been cut, or the version may be inserted a moment later.
        timeToLive: (exit) => (Exit.isSuccess(exit) ? Duration.infinity : Duration.zero)
      })
      return { get: (id) => Cache.get(versions, id) }
    })
  )
}

const find = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: AgentDefinitionId) {
  const found = yield* Effect.orDie(store.versionOf(sql, id))
  if (found === undefined) return yield* Effect.die(`No agent definition ${id}`)
  return { ...found, flaw: flawOf(found.definition) }
})
