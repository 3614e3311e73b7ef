/** Finding the records of calls. */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CampaignNotFound } from "../campaign/Campaign.ts"
import type { AgentId, CampaignId, OrganizationId, RunId } from "../Id.ts"
import { type Run, RunNotFound } from "./Run.ts"
import { parseFilters, type RunAttributeRefused, type RunFilterInvalid } from "./RunFilter.ts"
import * as store from "./RunStore.ts"

export interface RunQuery {
  /** From 1. */
  readonly page: number
  readonly limit: number
  /** By duration when it is `duration`, else by creation. */
  readonly sortBy?: string | undefined
  /** Ascending when it is `asc`. Runs without a value come last either way. */
  readonly sortOrder?: string | undefined
  /** The JSON text of the filters, as the client sent it. */
  readonly filters?: string | undefined
}

export interface RunPage {
  readonly runs: ReadonlyArray<Run>
  readonly totalCount: number
  readonly page: number
  readonly limit: number
  readonly totalPages: number
}

export class Runs extends Context.Service<
  Runs,
  {
    readonly get: (organizationId: OrganizationId, agentId: AgentId, runId: RunId) => Effect.Effect<Run, RunNotFound>
    readonly listOfCampaign: (
      organizationId: OrganizationId,
      campaignId: CampaignId,
      query: RunQuery
    ) => Effect.Effect<RunPage, CampaignNotFound | RunFilterInvalid | RunAttributeRefused>
  }
>()("core/run/Runs") {
  static readonly layer = Layer.effect(
    Runs,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Runs.of({
        get: Effect.fn("Runs.get")(function* (organizationId, agentId, runId) {
          const run = yield* Effect.orDie(store.find(sql, organizationId, agentId, runId))
          return run ?? (yield* new RunNotFound({ id: runId }))
        }),
        listOfCampaign: Effect.fn("Runs.listOfCampaign")(function* (organizationId, campaignId, query) {
          if (!(yield* Effect.orDie(store.hasCampaign(sql, organizationId, campaignId))))
            return yield* new CampaignNotFound({ id: campaignId })
          const filters = query.filters === undefined ? [] : yield* Effect.fromResult(parseFilters(query.filters))
          return yield* Effect.orDie(list(sql, { organizationId, campaignId, filters }, query))
        })
      })
    )
  )
}

const list = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, selection: store.RunSelection, query: RunQuery) {
  const { limit, page } = query
  const totalCount = yield* store.count(sql, selection)
  const runs = yield* store.list(sql, selection, {
    by: query.sortBy === "duration" ? "duration" : "created_at",
    ascending: query.sortOrder === "asc",
    limit,
    offset: (page - 1) * limit
  })
  return { runs, totalCount, page, limit, totalPages: Math.ceil(totalCount / limit) }
})
