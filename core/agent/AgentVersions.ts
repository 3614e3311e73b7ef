/** The versions of agents that calls are made with: from memory, because a version's content never changes. */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { AgentDefinitionId } from "#core/Id.ts"
import { Sealer } from "#core/Sealer.ts"
import type { AgentVersion } from "./Agent.ts"
import * as store from "./AgentVersionStore.ts"
import { flawOf } from "./GraphRules.ts"

const remembered = 1000

interface KnownVersion extends AgentVersion {
  /** Why nobody may be called with it. */
  readonly flaw: string | undefined
}

export class AgentVersions extends Context.Service<
  AgentVersions,
  {
    /** Not a tenant's query: the id comes from our own rows. */
    readonly get: (id: AgentDefinitionId) => Effect.Effect<KnownVersion>
  }
>()("core/agent/AgentVersions") {
  static readonly layer = Layer.effect(
    AgentVersions,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sealer = yield* Sealer
      const versions = yield* Cache.makeWith((id: AgentDefinitionId) => Effect.provideService(find(sql, id), Sealer, sealer), {
        capacity: remembered,
        // A look-up that failed says nothing about the next one: the connection was cut, or the version was written a moment later.
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
