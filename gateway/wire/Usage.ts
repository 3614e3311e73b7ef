/** The runs of a whole organization, and their totals. Money is what services with a price have cost; the engine itself charges nothing. */
import Type, { type Static } from "typebox"
import type { AgentId, RunId } from "#core/Id.ts"
import type { Usage } from "#core/report/Reports.ts"
import { sumOfDollars } from "#core/usage/Cost.ts"
import type { Run } from "#core/run/Run.ts"
import type { GatheredContext, InitialContext } from "#core/run/RunRecord.ts"
import type { UsagePage, UsageQuery } from "#core/run/Runs.ts"
import { id, instant, nullable, object, optional, orNull, orUndefined } from "#gateway/request/Field.ts"
import { dayAlone } from "./Report.ts"
import { dollarsOf, durationOf, type PublicUrls, tokensOf } from "./Run.ts"

const narrowing = {
  start_date: optional(Type.String({ description: `ISO 8601: runs created then or later. ${dayAlone}` })),
  end_date: optional(Type.String({ description: `ISO 8601: runs created then or earlier. ${dayAlone}` })),
  filters: optional(Type.String({ description: 'JSON array of `{"attribute", "type", "value"}`; all must match.' }))
}

export const UsageReportQuery = Type.Object(narrowing)

export const narrowingOf = (query: Static<typeof UsageReportQuery>) => ({
  startDate: orUndefined(query.start_date),
  endDate: orUndefined(query.end_date),
  filters: orUndefined(query.filters)
})

export const UsageListQuery = Type.Object({
  ...narrowing,
  page: Type.Integer({ minimum: 1, default: 1 }),
  limit: Type.Integer({ minimum: 1, maximum: 100, default: 50 }),
  sort_by: optional(Type.String({ description: "`duration` sorts by duration, anything else by time of creation." })),
  sort_order: Type.Enum(["asc", "desc"], { default: "desc", description: "Runs without a value come last." })
})

export const usageQueryOf = (query: Static<typeof UsageListQuery>): UsageQuery => ({
  ...narrowingOf(query),
  page: query.page,
  limit: query.limit,
  sortBy: orUndefined(query.sort_by),
  sortOrder: query.sort_order
})

const money = (of: string) =>
  nullable(
    Type.Number({
      description: `What the speech and language services of ${of} cost that have a price, in US dollars. Null: not known.`
    })
  )
const text = () => nullable(Type.String())

const UsageRunWire = Type.Object(
  {
    id: id<RunId>(),
    workflow_id: id<AgentId>(),
    workflow_name: text(),
    name: Type.String(),
    created_at: instant(),
    dograh_token_usage: Type.Number({ description: "`charge_usd` in hundredths of a US dollar; 0 if it is null." }),
    call_duration_seconds: Type.Integer({ description: "Rounded; 0 while the call is up." }),
    recording_url: text(),
    transcript_url: text(),
    recording_public_url: text(),
    transcript_public_url: text(),
    public_access_token: text(),
    phone_number: nullable(Type.String({ description: "Deprecated: the callee's number." })),
    caller_number: text(),
    called_number: text(),
    call_type: Type.Enum(["inbound", "outbound"]),
    mode: Type.String(),
    disposition: text(),
    initial_context: nullable(object()),
    gathered_context: nullable(object()),
    charge_usd: money("the call")
  },
  { title: "UsageRun" }
)

const textIn = (context: Run["gatheredContext"], name: keyof InitialContext | keyof GatheredContext): string | null => {
  const value = context?.[name]
  return typeof value === "string" ? value : null
}

export const usageRunWire = (run: Run, agentName: string | undefined, urls: PublicUrls): Static<typeof UsageRunWire> => ({
  id: run.id,
  workflow_id: run.agentId,
  workflow_name: orNull(agentName),
  name: run.name,
  created_at: run.createdAt.toISOString(),
  dograh_token_usage: tokensOf(run),
  call_duration_seconds: Math.round(durationOf(run) ?? 0),
  recording_url: orNull(run.recordingKey),
  transcript_url: orNull(run.transcriptKey),
  recording_public_url: urls.recording,
  transcript_public_url: urls.transcript,
  public_access_token: urls.token,
  phone_number: textIn(run.initialContext, "called_number") ?? textIn(run.initialContext, "phone_number"),
  caller_number: textIn(run.initialContext, "caller_number"),
  called_number: textIn(run.initialContext, "called_number"),
  call_type: run.callType,
  mode: run.mode,
  disposition: textIn(run.gatheredContext, "mapped_call_disposition"),
  initial_context: run.initialContext,
  gathered_context: orNull(run.gatheredContext),
  charge_usd: orNull(dollarsOf(run))
})

export const UsagePageWire = Type.Object(
  {
    runs: Type.Array(UsageRunWire),
    total_dograh_tokens: Type.Number({ description: "Total of this page." }),
    total_duration_seconds: Type.Integer({ description: "Total of this page." }),
    total_count: Type.Integer(),
    page: Type.Integer(),
    limit: Type.Integer(),
    total_pages: Type.Integer()
  },
  { title: "UsagePage" }
)

const sumOf = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

export const usagePageWire = (page: UsagePage, runs: Array<Static<typeof UsageRunWire>>): Static<typeof UsagePageWire> => ({
  runs,
  total_dograh_tokens: sumOf(runs.map((run) => run.dograh_token_usage)),
  total_duration_seconds: sumOf(runs.map((run) => run.call_duration_seconds)),
  total_count: page.totalCount,
  page: page.page,
  limit: page.limit,
  total_pages: page.totalPages
})

const tokens = () => Type.Number({ description: "Tokens of a managed service: this engine uses none." })

export const CurrentPeriodWire = Type.Object(
  {
    period_start: instant(),
    period_end: instant(),
    used_dograh_tokens: tokens(),
    total_duration_seconds: Type.Integer(),
    used_amount_usd: money("the calls"),
    currency: text(),
    price_per_second_usd: Type.Null({ description: "Always null: services are not priced by the second of a call." })
  },
  { title: "CurrentPeriod" }
)

/** Of the days of which something is known. */
const dollars = ({ days }: Usage): number | null => {
  const known = days.flatMap(({ costUsd }) => costUsd ?? [])
  return known.length === 0 ? null : sumOfDollars(known)
}
const currencyOf = (usage: Usage): string | null => (dollars(usage) === null ? null : "USD")

const seconds = ({ days }: Usage): number => sumOf(days.map((day) => day.seconds))

export const currentPeriodWire = (usage: Usage): Static<typeof CurrentPeriodWire> => ({
  period_start: usage.from.toISOString(),
  period_end: usage.until.toISOString(),
  used_dograh_tokens: 0,
  total_duration_seconds: Math.round(seconds(usage)),
  used_amount_usd: dollars(usage),
  currency: currencyOf(usage),
  price_per_second_usd: null
})

export const BreakdownQuery = Type.Object({ days: Type.Integer({ minimum: 1, maximum: 30, default: 7 }) })

export const BreakdownWire = Type.Object(
  {
    breakdown: Type.Array(
      Type.Object(
        {
          date: Type.String({ description: "`YYYY-MM-DD`, UTC." }),
          minutes: Type.Number(),
          cost_usd: money("the day's calls"),
          dograh_tokens: tokens(),
          call_count: Type.Integer()
        },
        { title: "DailyUsage" }
      ),
      { description: "Newest first." }
    ),
    total_minutes: Type.Number(),
    total_cost_usd: money("the calls"),
    total_dograh_tokens: tokens(),
    currency: text()
  },
  { title: "DailyUsageBreakdown" }
)

const minutes = (count: number): number => Math.round((count / 60) * 100) / 100

export const breakdownWire = (usage: Usage): Static<typeof BreakdownWire> => ({
  breakdown: usage.days.map((day) => ({
    date: day.date,
    minutes: minutes(day.seconds),
    cost_usd: day.costUsd,
    dograh_tokens: 0,
    call_count: day.calls
  })),
  total_minutes: minutes(seconds(usage)),
  total_cost_usd: dollars(usage),
  total_dograh_tokens: 0,
  currency: currencyOf(usage)
})
