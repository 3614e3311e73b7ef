/** Reports of runs: their queries, and the daily reports as JSON. */
import Type, { type Static } from "typebox"
import type { AgentId, RunId } from "#core/Id.ts"
import type { DailyReport, DailyRun, Share } from "#core/report/Report.ts"
import type { DayQuery } from "#core/report/Reports.ts"
import { boundOf, type DateRange } from "#core/run/DateBound.ts"
import { id, instant, nullable, optional, orNull, orUndefined } from "#gateway/request/Field.ts"

const time = (description: string) =>
  optional(
    Type.Refine(
      Type.String({ description }),
      (text) => boundOf(text) !== undefined,
      () => "must be an ISO 8601 date or date-time"
    )
  )

/** How a date without a time is interpreted. */
export const dayAlone = "A date alone is that whole day in the organization's time zone; a time without a zone is UTC."

export const ReportQuery = Type.Object({
  start_date: time(`Runs created then or later. ${dayAlone}`),
  end_date: time(`Runs created then or earlier. ${dayAlone}`)
})

export const reportDatesOf = ({ end_date, start_date }: Static<typeof ReportQuery>): DateRange => ({
  from: start_date === null ? undefined : boundOf(start_date),
  to: end_date === null ? undefined : boundOf(end_date)
})

export const DailyQuery = Type.Object({
  date: Type.String({ description: "`YYYY-MM-DD`" }),
  timezone: Type.String({ description: "IANA name of the time zone of the day." }),
  workflow_id: optional(id<AgentId>("Only runs of this agent."))
})

export const dayQueryOf = ({ date, timezone, workflow_id }: Static<typeof DailyQuery>): DayQuery => ({
  date,
  timezone,
  agentId: orUndefined(workflow_id)
})

const share = {
  count: Type.Integer(),
  percentage: Type.Number({ description: "0 to 100." })
}
const shareWire = ({ count, percentage }: Share) => ({ count, percentage })

export const DailyReportWire = Type.Object(
  {
    date: Type.String(),
    timezone: Type.String(),
    workflow_id: nullable(id<AgentId>()),
    metrics: Type.Object(
      { total_runs: Type.Integer(), xfer_count: Type.Integer({ description: "Calls that were transferred." }) },
      { title: "DailyMetrics" }
    ),
    disposition_distribution: Type.Array(Type.Object({ disposition: Type.String(), ...share }, { title: "DispositionShare" }), {
      description: "The five most frequent, and the rest as `Other`. Runs without a disposition are not counted."
    }),
    call_duration_distribution: Type.Array(
      Type.Object(
        {
          bucket: Type.String(),
          range_start: Type.Integer({ description: "Seconds." }),
          range_end: nullable(Type.Integer({ description: "Seconds; exclusive." })),
          ...share
        },
        { title: "DurationShare" }
      ),
      { description: "Runs without a duration are not counted." }
    )
  },
  { title: "DailyReport" }
)

export const dailyReportWire = (query: Static<typeof DailyQuery>, report: DailyReport): Static<typeof DailyReportWire> => ({
  date: query.date,
  timezone: query.timezone,
  workflow_id: query.workflow_id,
  metrics: { total_runs: report.totalRuns, xfer_count: report.transferred },
  disposition_distribution: report.dispositions.map(({ disposition, ...counted }) => ({ disposition, ...shareWire(counted) })),
  call_duration_distribution: report.durations.map(({ from, until, ...counted }) => ({
    bucket: until === undefined ? `>${from}` : `${from}-${until}`,
    range_start: from,
    range_end: orNull(until),
    ...shareWire(counted)
  }))
})

export const DailyRunWire = Type.Object(
  {
    phone_number: nullable(Type.String()),
    disposition: nullable(Type.String()),
    duration_seconds: nullable(Type.Number()),
    workflow_id: id<AgentId>(),
    run_id: id<RunId>(),
    workflow_name: Type.String(),
    created_at: instant()
  },
  { title: "DailyRun" }
)

export const dailyRunWire = (run: DailyRun): Static<typeof DailyRunWire> => ({
  phone_number: run.phoneNumber,
  disposition: run.disposition,
  duration_seconds: run.durationSeconds,
  workflow_id: run.agentId,
  run_id: run.id,
  workflow_name: run.agentName,
  created_at: run.createdAt.toISOString()
})

export const AgentNameWire = Type.Object({ id: id<AgentId>(), name: Type.String() }, { title: "WorkflowName" })
