/** /api/v1/organizations/usage: all calls of an organization, and their durations. */
import { Effect } from "effect"
import { Reports } from "#core/report/Reports.ts"
import { Runs } from "#core/run/Runs.ts"
import { route, tagged } from "#gateway/request/Route.ts"
import {
  BreakdownQuery,
  BreakdownWire,
  breakdownWire,
  CurrentPeriodWire,
  currentPeriodWire,
  UsageListQuery,
  UsagePageWire,
  usagePageWire,
  usageQueryOf,
  usageRunWire
} from "#gateway/wire/Usage.ts"
import { publicUrls } from "#gateway/file/publicFiles.ts"

export const usageRoutes = tagged({ name: "Usage", about: "How many calls there were, and how long they took." }, [
  route({
    method: "get",
    path: "/api/v1/organizations/usage/runs",
    name: "listUsageRuns",
    summary: "List the calls of the organization",
    description:
      "The calls of all agents with their durations and costs, and totals of the page. 400 for a filter or date that cannot be read.",
    query: UsageListQuery,
    success: UsagePageWire,
    errors: ["RunFilterInvalid", "RunDateInvalid"],
    handle: ({ caller, query }) =>
      Effect.gen(function* () {
        const page = yield* Runs.use((_) => _.listOfOrganization(caller.organizationId, usageQueryOf(query)))
        const runs = yield* Effect.forEach(page.runs, (run) =>
          Effect.map(publicUrls(run), (urls) => usageRunWire(run, page.agentNames.get(run.agentId), urls))
        )
        return usagePageWire(page, runs)
      })
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/usage/current-period",
    name: "getCurrentUsage",
    summary: "Read the total duration of this month's calls",
    description: "The month is that of the calendar, in UTC, up to this moment.",
    success: CurrentPeriodWire,
    handle: ({ caller }) => Reports.use((_) => _.currentMonth(caller.organizationId)).pipe(Effect.map(currentPeriodWire))
  }),
  route({
    method: "get",
    path: "/api/v1/organizations/usage/daily-breakdown",
    name: "getDailyUsage",
    summary: "Read calls and minutes per day, for the last days",
    description: "Days are those of UTC, up to and including today; days without calls are listed as well.",
    query: BreakdownQuery,
    success: BreakdownWire,
    handle: ({ caller, query }) => Reports.use((_) => _.lastDays(caller.organizationId, query.days)).pipe(Effect.map(breakdownWire))
  })
])
