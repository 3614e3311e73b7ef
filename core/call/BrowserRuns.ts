/** The runs of calls that are made from browsers, before they begin. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { AgentArchived, AgentNotFound, type AgentUnpublished } from "#core/agent/Agent.ts"
import { Agents } from "#core/agent/Agents.ts"
import { AgentVersions } from "#core/agent/AgentVersions.ts"
import type { AgentId, OrganizationId } from "#core/Id.ts"
import { type BrowserRun, contextOf } from "./BrowserRun.ts"
import * as store from "./BrowserRunStore.ts"
import { findAgent } from "./CallStore.ts"

interface NewBrowserRun {
  readonly agentId: AgentId
  readonly name: string
}

export class BrowserRuns extends Context.Service<
  BrowserRuns,
  {
    /** Of the agent's draft, if there is one. */
    readonly create: (
      organizationId: OrganizationId,
      run: NewBrowserRun
    ) => Effect.Effect<BrowserRun, AgentNotFound | AgentArchived | AgentUnpublished>
  }
>()("core/call/BrowserRuns") {
  static readonly layer = Layer.effect(
    BrowserRuns,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const agents = yield* Agents
      const versions = yield* AgentVersions
      return BrowserRuns.of({
        create: Effect.fn("BrowserRuns.create")(function* (organizationId, { agentId, name }) {
          const agent = yield* Effect.orDie(findAgent(sql, organizationId, agentId))
          if (agent === undefined) return yield* new AgentNotFound({ id: agentId })
          if (agent.status === "archived") return yield* new AgentArchived({ id: agentId })
          const definitionId = yield* agents.calledVersion(organizationId, agent, true)
          const { templateContextVariables } = yield* versions.get(definitionId)
          const run = { organizationId, agentId, definitionId, name, initialContext: contextOf(templateContextVariables) }
          return yield* Effect.orDie(store.create(sql, run))
        })
      })
    })
  ).pipe(Layer.provide([Agents.layer, AgentVersions.layer]))
}
