/** Reports about the runs of an organization: CSV files, daily totals and usage. */
import { Clock, Context, Effect, Layer, Option, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { AgentNotFound } from "#core/agent/Agent.ts"
import { CampaignNotFound } from "#core/campaign/Campaign.ts"
import { isTimeZone } from "#core/TimeZone.ts"
import { heavy } from "#core/load/HeavyWork.ts"
import type { AgentId, CampaignId, OrganizationId } from "#core/Id.ts"
import type { Page } from "#core/Page.ts"
import { type DateRange, spanOfDay } from "#core/run/DateBound.ts"
import type { RunDateInvalid, RunFilter, RunFilterInvalid } from "#core/run/RunFilter.ts"
import { located, type UsageQuery, usageFilters } from "#core/run/Runs.ts"
import { hasCampaign, type RunSelection } from "#core/run/RunStore.ts"
import {
  type DailyReport,
  type DailyRun,
  type Report,
  ReportDayInvalid,
  type ReportedDay,
  type ReportRow,
  type Share,
  type UsageDay
} from "./Report.ts"
import * as store from "./ReportStore.ts"

export interface DayQuery {
  /** `2026-01-31` */
  readonly date: string
  /** IANA name of a time zone. */
  readonly timezone: string
  readonly agentId?: AgentId | undefined
}

export interface Usage extends ReportedDay {
  /** Every day of the period, newest first. */
  readonly days: ReadonlyArray<UsageDay>
}

export class Reports extends Context.Service<
  Reports,
  {
    readonly ofCampaign: (organizationId: OrganizationId, id: CampaignId, dates: DateRange) => Effect.Effect<Report, CampaignNotFound>
    readonly ofAgent: (organizationId: OrganizationId, id: AgentId, dates: DateRange) => Effect.Effect<Report, AgentNotFound>
    readonly ofOrganization: (
      organizationId: OrganizationId,
      query: Pick<UsageQuery, "endDate" | "filters" | "startDate">
    ) => Effect.Effect<Report, RunFilterInvalid | RunDateInvalid>
    readonly daily: (organizationId: OrganizationId, query: DayQuery) => Effect.Effect<DailyReport, ReportDayInvalid>
    /** Newest first, at most 5000. */
    readonly dailyRuns: (organizationId: OrganizationId, query: DayQuery) => Effect.Effect<ReadonlyArray<DailyRun>, ReportDayInvalid>
    readonly agents: (
      organizationId: OrganizationId,
      page: Page
    ) => Effect.Effect<ReadonlyArray<{ readonly id: AgentId; readonly name: string }>>
    /** The whole current month, in UTC. */
    readonly currentMonth: (organizationId: OrganizationId) => Effect.Effect<Usage>
    /** The last days in UTC, including today. */
    readonly lastDays: (organizationId: OrganizationId, days: number) => Effect.Effect<Usage>
  }
>()("core/report/Reports") {
  static readonly layer = Layer.effect(
    Reports,
    Effect.map(SqlClient.SqlClient, (sql) =>
      Reports.of({
        ofCampaign: Effect.fn("Reports.ofCampaign")(function* (organizationId, campaignId, dates) {
          const isThere = yield* Effect.orDie(hasCampaign(sql, organizationId, campaignId))
          if (!isThere) return yield* new CampaignNotFound({ id: campaignId })
          return yield* reportOf(sql, { organizationId, campaignId, filters: datesOf(dates) })
        }),
        ofAgent: Effect.fn("Reports.ofAgent")(function* (organizationId, agentId, dates) {
          const isThere = yield* Effect.orDie(store.hasAgent(sql, organizationId, agentId))
          if (!isThere) return yield* new AgentNotFound({ id: agentId })
          return yield* reportOf(sql, { organizationId, agentId, filters: datesOf(dates) })
        }),
        ofOrganization: Effect.fn("Reports.ofOrganization")(function* (organizationId, query) {
          const filters = yield* Effect.fromResult(usageFilters(query))
          return yield* reportOf(sql, { organizationId, filters })
        }),
        daily: Effect.fn("Reports.daily")(function* (organizationId, { agentId, ...query }) {
          return yield* heavy(daily(sql, { organizationId, agentId, ...(yield* dayOf(query)) }))
        }),
        dailyRuns: Effect.fn("Reports.dailyRuns")(function* (organizationId, { agentId, ...query }) {
          return yield* heavy(Effect.orDie(store.runsOfDay(sql, { organizationId, agentId, ...(yield* dayOf(query)) })))
        }),
        agents: Effect.fn("Reports.agents")((organizationId, page) => Effect.orDie(store.agents(sql, organizationId, page))),
        currentMonth: Effect.fn("Reports.currentMonth")(function* (organizationId) {
          const now = new Date(yield* Clock.currentTimeMillis)
          const first = (month: number) => new Date(Date.UTC(now.getUTCFullYear(), month, 1))
          return yield* usage(sql, organizationId, { from: first(now.getUTCMonth()), until: first(now.getUTCMonth() + 1) })
        }),
        lastDays: Effect.fn("Reports.lastDays")(function* (organizationId, days) {
          const tomorrow = (Math.floor((yield* Clock.currentTimeMillis) / dayMillis) + 1) * dayMillis
          return yield* usage(sql, organizationId, { from: new Date(tomorrow - days * dayMillis), until: new Date(tomorrow) })
        })
      })
    )
  )
}

type Sql = SqlClient.SqlClient
const dayMillis = 86_400_000

const datesOf = (dates: DateRange): ReadonlyArray<RunFilter> => [{ attribute: "dateRange", ...dates }]

const reportOf = Effect.fnUntraced(function* (sql: Sql, wanted: RunSelection) {
  const selection = yield* Effect.orDie(located(sql, wanted))
  const report: Report = {
    variables: yield* heavy(Effect.orDie(store.variables(sql, selection))),
    batches: Stream.paginate<store.Cursor | undefined, ReadonlyArray<ReportRow>>(undefined, (after) =>
      // Outside the lanes for heavy work: an answer that has begun cannot be turned away, and a slow client would keep its lane occupied.
      Effect.map(Effect.orDie(store.batch(sql, selection, after)), ({ next, rows }) => [[rows], Option.fromUndefinedOr(next)] as const)
    )
  }
  return report
})

const dayOf = Effect.fnUntraced(function* ({ date, timezone }: DayQuery) {
  const isKnown = isTimeZone(timezone)
  const span = spanOfDay(date, isKnown ? timezone : "UTC")
  if (span === undefined) return yield* new ReportDayInvalid({ reason: "Invalid date format. Use YYYY-MM-DD" })
  return isKnown ? span : yield* new ReportDayInvalid({ reason: `Invalid timezone: ${timezone}` })
})

const dispositionsShown = 5
const durationBounds = [10, 30, 60, 120, 180]

const share = (count: number, all: number): Share => ({ count, percentage: all === 0 ? 0 : Math.round((count / all) * 10_000) / 100 })

const daily = Effect.fnUntraced(function* (sql: Sql, day: store.DaySelection) {
  const totals = yield* store.dayTotals(sql, day, durationBounds)
  const top = yield* store.dayDispositions(sql, day, dispositionsShown)
  const shown = top.reduce((sum, { count }) => sum + count, 0)
  const others = totals.disposed > shown ? [{ disposition: "Other", count: totals.disposed - shown }] : []
  const timed = totals.durations.reduce((sum, count) => sum + count, 0)
  const report: DailyReport = {
    totalRuns: totals.runs,
    transferred: totals.transferred,
    dispositions: [...top, ...others].map(({ count, disposition }) => ({ disposition, ...share(count, totals.disposed) })),
    durations: totals.durations.map((count, bucket) => ({
      from: durationBounds[bucket - 1] ?? 0,
      until: durationBounds[bucket],
      ...share(count, timed)
    }))
  }
  return report
}, Effect.orDie)

const usage = (sql: Sql, organizationId: OrganizationId, span: ReportedDay): Effect.Effect<Usage> =>
  store.usageByDay(sql, organizationId, span).pipe(
    Effect.map((days) => ({ ...span, days })),
    Effect.orDie
  )
