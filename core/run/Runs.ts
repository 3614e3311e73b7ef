/** Finds runs, one by one and in lists. */
import { Context, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { CampaignNotFound } from "#core/campaign/Campaign.ts"
import type { AgentId, CampaignId, OrganizationId, RunId } from "#core/Id.ts"
import { namesDay } from "./DateBound.ts"
import { type Run, RunNotFound } from "./Run.ts"
import {
  parseDates,
  parseFilters,
  parseUsageFilters,
  type RunAttributeRefused,
  type RunDateInvalid,
  type RunFilter,
  type RunFilterInvalid
} from "./RunFilter.ts"
import * as store from "./RunStore.ts"

export interface RunQuery {
  /** The first page is 1. */
  readonly page: number
  readonly limit: number
  /** `duration` sorts by duration, anything else by time of creation. */
  readonly sortBy?: string | undefined
  /** `asc` sorts ascending, anything else descending. Runs without a value come last in both. */
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

/** The runs of an organization, with the names of their agents. */
export interface UsagePage extends RunPage {
  readonly agentNames: ReadonlyMap<AgentId, string>
}

export interface UsageQuery extends RunQuery {
  /** When the runs were created, inclusive: ISO dates, as the client sent them. */
  readonly startDate?: string | undefined
  readonly endDate?: string | undefined
}

interface Artifacts {
  readonly organizationId: OrganizationId
  readonly transcriptKey: string | undefined
  readonly recordingKey: string | undefined
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
    /** Empty if the agent does not exist. */
    readonly listOfAgent: (
      organizationId: OrganizationId,
      agentId: AgentId,
      query: RunQuery
    ) => Effect.Effect<RunPage, RunFilterInvalid | RunAttributeRefused>
    readonly listOfOrganization: (
      organizationId: OrganizationId,
      query: UsageQuery
    ) => Effect.Effect<UsagePage, RunFilterInvalid | RunDateInvalid>
    /** For requests with a valid token of the run; they belong to no organization. */
    readonly artifacts: (runId: RunId) => Effect.Effect<Artifacts, RunNotFound>
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
          const filters = yield* filtersOf(query)
          return yield* Effect.orDie(list(sql, { organizationId, campaignId, filters }, query))
        }),
        listOfAgent: Effect.fn("Runs.listOfAgent")(function* (organizationId, agentId, query) {
          const filters = yield* filtersOf(query)
          return yield* Effect.orDie(list(sql, { organizationId, agentId, filters }, query))
        }),
        listOfOrganization: Effect.fn("Runs.listOfOrganization")(function* (organizationId, query) {
          const filters = yield* Effect.fromResult(usageFilters(query))
          const page = yield* Effect.orDie(list(sql, { organizationId, filters }, query))
          const agents = [...new Set(page.runs.map(({ agentId }) => agentId))]
          return { ...page, agentNames: yield* Effect.orDie(store.agentNames(sql, organizationId, agents)) }
        }),
        artifacts: Effect.fn("Runs.artifacts")(function* (runId) {
          const found = yield* Effect.orDie(store.artifacts(sql, runId))
          if (found === undefined) return yield* new RunNotFound({ id: runId })
          return {
            organizationId: found.organizationId,
            transcriptKey: found.transcriptKey ?? undefined,
            recordingKey: found.recordingKey ?? undefined
          }
        })
      })
    )
  )
}

const filtersOf = ({ filters }: RunQuery) => (filters === undefined ? Effect.succeed([]) : Effect.fromResult(parseFilters(filters)))

/** The filters of the usage list and its report. */
export const usageFilters = ({ endDate, filters, startDate }: Pick<UsageQuery, "endDate" | "filters" | "startDate">) =>
  Result.gen(function* () {
    const dates = yield* parseDates(startDate, endDate)
    return [...dates, ...(filters === undefined ? [] : yield* parseUsageFilters(filters))]
  })

/** Adds the organization's time zone if a filter names a day. */
export const located = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, selection: store.RunSelection) {
  if (!selection.filters.some(isOfDays)) return selection
  return { ...selection, timeZone: yield* store.timeZoneOf(sql, selection.organizationId) }
})
const isOfDays = (filter: RunFilter) => filter.attribute === "dateRange" && namesDay(filter)

const list = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, wanted: store.RunSelection, query: RunQuery) {
  const { limit, page } = query
  const selection = yield* located(sql, wanted)
  const totalCount = yield* store.count(sql, selection)
  const runs = yield* store.list(sql, selection, {
    by: query.sortBy === "duration" ? "duration" : "created_at",
    ascending: query.sortOrder === "asc",
    limit,
    offset: (page - 1) * limit
  })
  return { runs, totalCount, page, limit, totalPages: Math.ceil(totalCount / limit) }
})
