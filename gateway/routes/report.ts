/** Reports: of a campaign, an agent and the organization as CSV, of a day as JSON. */
import { Clock, Effect, Stream } from "effect"
import Type from "typebox"
import { headerOf, lineOf } from "#core/report/ReportCsv.ts"
import type { Report } from "#core/report/Report.ts"
import { Reports } from "#core/report/Reports.ts"
import { csvContent } from "#gateway/file/csvContent.ts"
import type { FileLinks } from "#gateway/file/FileLinks.ts"
import { NotFound } from "#gateway/request/Refusal.ts"
import { download, list, route, tagged } from "#gateway/request/Route.ts"
import type { ServerInfo } from "#gateway/ports/ServerInfo.ts"
import { CampaignPath } from "#gateway/wire/Campaign.ts"
import { listed, pageOf, PageQuery } from "#gateway/wire/Page.ts"
import {
  AgentNameWire,
  DailyQuery,
  DailyReportWire,
  dailyReportWire,
  DailyRunWire,
  dailyRunWire,
  dayQueryOf,
  reportDatesOf,
  ReportQuery
} from "#gateway/wire/Report.ts"
import { AgentRunsPath } from "#gateway/wire/Run.ts"
import { narrowingOf, UsageReportQuery } from "#gateway/wire/Usage.ts"
import { publicUrls } from "#gateway/file/publicFiles.ts"

const description =
  "One row for each call, newest first, with a column for each variable that an agent extracted. Rows are read from the database while they are sent."

const csvOf = Effect.fnUntraced(function* ({ batches, variables }: Report, fileName: string) {
  const links = yield* Effect.context<FileLinks | ServerInfo>()
  const lines = batches.pipe(
    Stream.mapEffect((rows) =>
      Effect.forEach(rows, (row) => Effect.map(publicUrls(row), (urls) => lineOf(row, variables, urls))).pipe(
        Effect.map((texts) => texts.join(""))
      )
    ),
    Stream.provideContext(links)
  )
  return csvContent(fileName, headerOf(variables), lines)
})

/** `20260131_235959` */
const stampOf = (millis: number): string => {
  const [date = "", time = ""] = new Date(millis).toISOString().split("T")
  return `${date.replaceAll("-", "")}_${time.slice(0, 8).replaceAll(":", "")}`
}

export const reportRoutes = tagged({ name: "Reports", about: "Outcomes of calls, as tables." }, [
  download({
    method: "get",
    path: "/api/v1/campaign/:campaign_id/report",
    name: "getCampaignReport",
    summary: "Download the calls of a campaign as CSV",
    description,
    params: CampaignPath,
    query: ReportQuery,
    mediaTypes: ["text/csv"],
    errors: ["NotFound"],
    handle: ({ caller, params, query }) =>
      Reports.use((_) => _.ofCampaign(caller.organizationId, params.campaign_id, reportDatesOf(query))).pipe(
        Effect.catchTag("CampaignNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Campaign ${id} not found` }))),
        Effect.flatMap((report) => csvOf(report, `campaign_${params.campaign_id}_report.csv`))
      )
  }),
  download({
    method: "get",
    path: "/api/v1/workflow/:workflow_id/report",
    name: "getWorkflowReport",
    summary: "Download the calls of an agent as CSV",
    description,
    params: AgentRunsPath,
    query: ReportQuery,
    mediaTypes: ["text/csv"],
    errors: ["NotFound"],
    handle: ({ caller, params, query }) =>
      Reports.use((_) => _.ofAgent(caller.organizationId, params.workflow_id, reportDatesOf(query))).pipe(
        Effect.catchTag("AgentNotFound", ({ id }) => Effect.fail(new NotFound({ detail: `Workflow with id ${id} not found` }))),
        Effect.flatMap((report) => csvOf(report, `workflow_${params.workflow_id}_report.csv`))
      )
  }),
  download({
    method: "get",
    path: "/api/v1/organizations/usage/runs/report",
    name: "getUsageReport",
    summary: "Download the calls of the organization as CSV",
    description,
    query: UsageReportQuery,
    mediaTypes: ["text/csv"],
    errors: ["RunFilterInvalid", "RunDateInvalid"],
    handle: ({ caller, query }) =>
      Effect.gen(function* () {
        const report = yield* Reports.use((_) => _.ofOrganization(caller.organizationId, narrowingOf(query)))
        return yield* csvOf(report, `usage_runs_${stampOf(yield* Clock.currentTimeMillis)}.csv`)
      })
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/reports/daily",
    name: "getDailyReport",
    summary: "Read the outcomes of the calls of a day",
    description:
      "Counts the calls of one day of a time zone by disposition and duration, of all agents or one. 400 for a day or zone that does not exist.",
    query: DailyQuery,
    success: DailyReportWire,
    errors: ["ReportDayInvalid"],
    handle: ({ caller, query }) =>
      Reports.use((_) => _.daily(caller.organizationId, dayQueryOf(query))).pipe(Effect.map((report) => dailyReportWire(query, report)))
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/reports/daily/runs",
    name: "listDailyRuns",
    summary: "List the calls of a day, newest first",
    description: "At most 5000 calls; the report of the organization's usage has all of them.",
    query: DailyQuery,
    success: Type.Array(DailyRunWire),
    errors: ["ReportDayInvalid"],
    handle: ({ caller, query }) =>
      Reports.use((_) => _.dailyRuns(caller.organizationId, dayQueryOf(query))).pipe(Effect.map((runs) => runs.map(dailyRunWire)))
  }),
  list({
    path: "/api/v1/organizations/reports/workflows",
    name: "listReportedWorkflows",
    summary: "List the agents that a report can be restricted to",
    description: "For a field in which the agent of a report is chosen: only ids and names.",
    query: PageQuery,
    success: Type.Array(AgentNameWire),
    handle: ({ caller, query }) =>
      Effect.map(
        Reports.use((_) => _.agents(caller.organizationId, pageOf(query))),
        (agents) => listed(query, agents, (shown) => [...shown])
      )
  })
])
