/** Lists and reports of runs: what each is filtered by, and that totals agree with the table. */
import { DateTime, Effect, Result, Stream } from "effect"
import t from "tap"
import { AgentId, type CampaignId, RunId } from "#core/Id.ts"
import { headerOf, lineOf } from "#core/report/ReportCsv.ts"
import { boundOf } from "#core/run/DateBound.ts"
import type { ReportRow } from "#core/report/Report.ts"
import { Reports } from "#core/report/Reports.ts"
import { parseUsageFilters } from "#core/run/RunFilter.ts"
import { Runs } from "#core/run/Runs.ts"
import { install, makeAgent, makeCampaign, ours, tag, theirs } from "./services.ts"

const { run, sql, test } = await install(t)
const [runs, reports] = await run(Effect.all([Runs, Reports]))
const all = { page: 1, limit: 100 }

interface Given {
  readonly agent: { readonly id: AgentId; readonly currentDefinitionId: number | null }
  readonly campaignId?: CampaignId
  readonly count: number
  readonly organizationId?: number
  /** The mode of every third run: text chats appear only in lists. */
  readonly third?: "textchat" | "twilio"
}
/** One run per hour, from the first hour of 2026. Run n lasted n seconds, from number +1555000n to +1999000n. */
const insertRuns = ({ agent, campaignId, count, organizationId = ours, third = "twilio" }: Given) =>
  sql`
    INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, call_type, is_completed, created_at,
      initial_context, gathered_context, usage_info)
    SELECT ${organizationId}::int, ${agent.id}::int, ${agent.currentDefinitionId}::int, ${campaignId ?? null}::int, gen_random_uuid(), 'run ' || n,
      CASE n % 3 WHEN 0 THEN 'ari' WHEN 1 THEN 'webrtc' ELSE ${third} END, CASE n % 2 WHEN 0 THEN 'inbound' ELSE 'outbound' END, true,
      '2026-01-01T00:00:00.000001Z'::timestamptz + n * interval '1 hour',
      jsonb_build_object('called_number', '+1999000' || n, 'caller_number', '+1555000' || n),
      jsonb_build_object('mapped_call_disposition', CASE WHEN n % 2 = 0 THEN 'busy' ELSE 'user_hangup' END,
        'extracted_variables', jsonb_build_object('v' || n % 3, n), 'call_tags', jsonb_build_array('a', 'b')),
      jsonb_build_object('call_duration_seconds', n)
    FROM generate_series(1, ${count}::int) n`

/** An agent with six runs of its own and a campaign with four more. */
const scene = Effect.gen(function* () {
  const agent = yield* makeAgent()
  const campaign = yield* makeCampaign({ agentId: agent.id }, 1)
  yield* insertRuns({ agent, count: 6, third: "textchat" })
  yield* insertRuns({ agent, campaignId: campaign.id, count: 4, third: "textchat" })
  yield* sql`INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count) VALUES (${campaign.id}::int, 1, 4)`
  return { agent, campaignId: campaign.id }
})

test(t, "given runs with and without a campaign, when they are listed, then the totals are those of the table", function* (t) {
  const { agent, campaignId } = yield* scene
  const ofAgent = yield* runs.listOfAgent(ours, agent.id, all)
  const usage = yield* runs.listOfOrganization(ours, { ...all, limit: 3 })
  const foreign = yield* runs.listOfAgent(theirs, agent.id, all)
  const [counted] = yield* sql<{ count: number }>`SELECT count(*)::int AS count FROM runs WHERE organization_id = 1`
  yield* sql`DELETE FROM runs WHERE agent_id = ${agent.id} AND campaign_id IS NULL AND name IN ('run 1', 'run 2')`
  const ofCampaign = yield* runs.listOfCampaign(ours, campaignId, all)
  t.strictSame([ofAgent.totalCount, ofAgent.runs.length, ofCampaign.totalCount, ofCampaign.runs.length], [10, 10, 4, 4])
  t.match(usage, { totalCount: counted?.count, totalPages: Math.ceil((counted?.count ?? 0) / 3), runs: { length: 3 } })
  t.strictSame([...usage.agentNames.values()], ["Ada"])
  t.match(foreign, { totalCount: 0, totalPages: 0, runs: [] }, "nothing of another organization's agent")
  t.match(yield* runs.listOfOrganization(theirs, all), { totalCount: 0, runs: [] })
  t.equal((yield* runs.listOfAgent(ours, agent.id, all)).totalCount, 8, "runs that are deleted are not counted")
})

test(t, "given an organization's runs, when they are filtered, then each attribute narrows and unknown ones do not", function* (t) {
  const { agent, campaignId } = yield* scene
  const ids = (yield* runs.listOfAgent(ours, agent.id, { ...all, sortOrder: "asc" })).runs.map(({ id }) => id)
  const names = (filter: object, dates: object = {}) => {
    const own = { attribute: "workflowId", type: "number", value: { value: agent.id } }
    const query = { ...all, ...dates, sortBy: "duration", sortOrder: "asc", filters: JSON.stringify([own, filter]) }
    return Effect.map(runs.listOfOrganization(ours, query), (page) => page.runs.map(({ name }) => name.slice(4)).join(""))
  }
  const text = (attribute: string, value: string) => names({ attribute, type: "text", value: { value } })
  const radio = (attribute: string, status: string) => names({ attribute, type: "radio", value: { status } })
  const found = {
    run: yield* names({ attribute: "runId", type: "number", value: { value: ids[0] } }),
    campaign: yield* names({ attribute: "campaignId", type: "number", value: { value: campaignId } }),
    called: yield* text("calledNumber", "990006"),
    caller: yield* text("callerNumber", "+15550005"),
    wildcard: yield* text("callerNumber", "%"),
    inbound: yield* radio("callDirection", "inbound"),
    anyDirection: yield* radio("callDirection", "sideways"),
    telephony: yield* radio("callChannel", "telephony"),
    web: yield* radio("callChannel", "web"),
    chat: yield* radio("callChannel", "chat"),
    codes: yield* names({ attribute: "dispositionCode", type: "multiSelect", value: { codes: ["busy"] } }),
    duration: yield* names({ attribute: "duration", type: "numberRange", value: { min: 5 } }),
    unknown: yield* names({ attribute: "tokenUsage", type: "numberRange", value: { min: 5 } }),
    from: yield* names({ attribute: "x" }, { startDate: "2026-01-01T05:00:00+00:00" }),
    oldest: yield* names({ attribute: "x" }, { startDate: "0000-01-01", endDate: "2026-01-01 01:00:01" }),
    wrongDate: yield* tag(names({ attribute: "x" }, { startDate: "yesterday" }))
  }
  t.strictSame(found, {
    run: "1",
    campaign: "1234",
    called: "6",
    caller: "5",
    wildcard: "",
    inbound: "22446",
    anyDirection: "1122334456",
    telephony: "336",
    web: "1144",
    chat: "225",
    codes: "22446",
    duration: "56",
    unknown: "1122334456",
    from: "56",
    oldest: "11",
    wrongDate: "RunDateInvalid"
  })
})

t.test("given filters with invalid values, when they are read, then they are refused", async (t) => {
  const parsed = (attribute: string, type: string, value: unknown) =>
    Result.isSuccess(parseUsageFilters(JSON.stringify([{ attribute, type, value }])))
  t.notOk(parsed("runId", "number", { value: 1e12 }))
  t.notOk(parsed("runId", "number", { value: 1.5 }))
  t.notOk(parsed("runId", "number", { value: "1" }))
  t.notOk(parsed("callerNumber", "text", { value: "a\0" }), "what the database cannot hold")
  t.notOk(parsed("dispositionCode", "multiSelect", { codes: ["\ud800"] }))
  t.ok(parsed("callerNumber", "text", { value: "" }))
  t.ok(parsed("runId", "text", { value: "x" }), "another type says nothing")
})

const rowsOf = (report: { readonly batches: Stream.Stream<ReadonlyArray<ReportRow>> }) =>
  Effect.map(Stream.runCollect(report.batches), (batches) => batches.flat())

test(t, "given more runs than a batch, when they are reported, then every one is there once, newest first", function* (t) {
  const agent = yield* makeAgent()
  const { id } = yield* makeCampaign({ agentId: agent.id }, 1)
  yield* insertRuns({ agent, campaignId: id, count: 1203 })
  // Many have the same microsecond, so the id decides their order.
  yield* sql`UPDATE runs SET created_at = '2026-06-01T00:00:00.123456Z' WHERE campaign_id = ${id} AND name <= 'run 5'`
  const report = yield* reports.ofCampaign(ours, id, { from: undefined, to: undefined })
  const dates = { from: boundOf("2026-01-01T02:00:00Z"), to: boundOf("2026-05-01T00:00:00Z") }
  const campaign = id
  const variables = report.variables
  const rows = yield* rowsOf(report)
  const narrowed = (yield* rowsOf(yield* reports.ofAgent(ours, agent.id, dates))).length
  const agentRows = (yield* rowsOf(
    yield* reports.ofOrganization(ours, { filters: `[{"attribute":"campaignId","type":"number","value":{"value":${id}}}]` })
  )).length
  const tags = [
    yield* tag(reports.ofCampaign(theirs, id, dates)),
    yield* tag(reports.ofAgent(theirs, agent.id, dates)),
    yield* tag(reports.ofOrganization(ours, { filters: "{" })),
    yield* tag(reports.ofOrganization(ours, { startDate: "x" }))
  ]
  t.equal(rows.length, 1203)
  t.equal(new Set(rows.map(({ id }) => id)).size, 1203)
  const times = rows.map(({ createdAt, id }) => createdAt.getTime() * 1e7 + id)
  t.strictSame(
    times,
    times.toSorted((a, b) => b - a)
  )
  t.equal(agentRows, 1203)
  t.ok(narrowed > 500 && narrowed < 1203)
  t.strictSame(variables.toSorted(), ["v0", "v1", "v2"])
  t.strictSame(tags, ["CampaignNotFound", "AgentNotFound", "RunFilterInvalid", "RunDateInvalid"])
  t.match(rows[0], { campaignId: campaign, disposition: String, durationSeconds: Number, tags: ["a", "b"], isFinal: true })
})

t.test("given cells that a spreadsheet would evaluate, when they are written, then they are text, and phone numbers stay", async (t) => {
  const row: ReportRow = {
    id: RunId.make(1),
    campaignId: undefined,
    agentId: AgentId.make(2),
    // A number, like all ids.
    definitionId: 3 as never,
    createdAt: new Date(0),
    phoneNumber: "+15550100001",
    disposition: "=1+1",
    durationSeconds: 1.5,
    variables: { a: '@x"y', b: "-1\r\n", c: { d: [1] }, Row: null, toString: "\tz", n: -5 },
    tags: ["+1x", "b"],
    transcriptKey: undefined,
    recordingKey: undefined,
    rowNo: undefined,
    attempt: undefined,
    outcome: undefined,
    isFinal: true,
    fromNumber: undefined
  }
  const names = ["a", "b", "c", "Row", "toString", "n", "valueOf", "=h"]
  t.equal(
    headerOf(names),
    "\uFEFFRun ID,Campaign ID,Agent ID,Agent Definition ID,Created At,Phone Number,Call Disposition,Call Duration (s)," +
      "a,b,c,var:Row,toString,n,valueOf,'=h,Call Tags,Transcript URL,Recording URL,Row,Attempt,Outcome,Final,From Number\r\n"
  )
  t.equal(
    lineOf(row, names, { transcript: "http://a/t", recording: null }),
    "1,,2,3,1970-01-01T00:00:00.000Z,+15550100001,'=1+1,1.5," +
      `"'@x""y","'-1\r\n","{""d"":[1]}",,'\tz,'-5,,,"'+1x, b",http://a/t,,,,,yes,\r\n`
  )
})

test(t, "given a day of 23 hours, when it is reported, then it has the runs of those hours", function* (t) {
  const agent = yield* makeAgent()
  yield* insertRuns({ agent, count: 24 })
  // On this day, New York's clocks went forward: it started at 05:00 UTC and ended at 04:00 UTC.
  yield* sql`UPDATE runs SET created_at = '2026-03-08T04:30:00Z'::timestamptz + (substr(name, 5)::int - 1) * interval '1 hour',
        usage_info = CASE WHEN name = 'run 3' THEN NULL ELSE usage_info END,
        gathered_context = jsonb_build_object('mapped_call_disposition', CASE WHEN name = 'run 2' THEN 'call_transferred'
          ELSE 'code ' || least(substr(name, 5)::int / 3, 6) END) WHERE agent_id = ${agent.id}`
  const query = { date: "2026-03-08", timezone: "America/New_York", agentId: agent.id }
  const day = yield* reports.daily(ours, query)
  const everyone = (yield* reports.daily(ours, { ...query, agentId: undefined })).totalRuns
  const foreign = (yield* reports.daily(theirs, query)).totalRuns
  const listed = yield* reports.dailyRuns(ours, query)
  const tags = [
    yield* Effect.flip(reports.daily(ours, { ...query, date: "2026-02-30" })),
    yield* Effect.flip(reports.daily(ours, { ...query, date: "today" })),
    yield* Effect.flip(reports.daily(ours, { ...query, timezone: "Mars/Base" }))
  ].map(({ reason }) => reason)
  const usage = yield* reports.lastDays(ours, 3)
  t.strictSame([day.totalRuns, day.transferred, everyone, foreign, listed.length], [23, 1, 23, 0, 23])
  t.match(listed[0], { agentName: "Ada", phoneNumber: "+199900024", durationSeconds: 24 })
  t.equal(day.dispositions.length, 6)
  t.strictSame(day.dispositions[0], { disposition: "code 6", count: 7, percentage: 30.43 })
  t.match(day.dispositions.at(-1), { disposition: "Other", count: 4 })
  const total = day.dispositions.reduce((sum, { count }) => sum + count, 0)
  t.equal(total, 23)
  const durations = day.durations.map(({ count, from, until }) => [from, until, count])
  t.strictSame(durations, [
    [0, 10, 7],
    [10, 30, 15],
    [30, 60, 0],
    [60, 120, 0],
    [120, 180, 0],
    [180, undefined, 0]
  ])
  t.strictSame(tags, ["Invalid date format. Use YYYY-MM-DD", "Invalid date format. Use YYYY-MM-DD", "Invalid timezone: Mars/Base"])
  t.strictSame([usage.days.length, usage.days[0]?.date], [3, DateTime.formatIso(DateTime.nowUnsafe()).slice(0, 10)])
})

test(t, "given days that are over, when usage is requested again, then those that cannot change are not counted again", function* (t) {
  const agent = yield* makeAgent()
  yield* sql`DELETE FROM runs`
  yield* sql`DELETE FROM usage_days`
  yield* insertRuns({ agent, count: 4 })
  // Run 1 is from today, 2 and 3 are from two days ago, and 4, which is from three days ago, has not ended.
  yield* sql`UPDATE runs SET is_completed = name <> 'run 4', created_at = date_trunc('day', now(), 'UTC')
        - interval '1 day' * CASE name WHEN 'run 1' THEN 0 WHEN 'run 4' THEN 3 ELSE 2 END`
  yield* sql`UPDATE runs SET cost_info = jsonb_build_object('total_cost_usd', 0.1 * split_part(name, ' ', 2)::numeric) WHERE name IN ('run 2', 'run 3')`
  const ask = Effect.map(reports.lastDays(ours, 4), ({ days }) => days.map(({ calls, costUsd, seconds }) => [calls, seconds, costUsd]))
  const first = yield* ask
  yield* sql`UPDATE runs SET usage_info = '{"call_duration_seconds":100}', cost_info = '{"total_cost_usd":1}', is_completed = true`
  t.strictSame(first, [
    [1, 1, null],
    [0, 0, null],
    [2, 5, 0.5],
    [1, 4, null]
  ])
  t.strictSame(yield* ask, [
    [1, 100, 1],
    [0, 0, null],
    [2, 5, 0.5],
    [1, 100, 1]
  ])
  const calls = (yield* reports.lastDays(theirs, 4)).days.map(({ calls }) => calls)
  t.strictSame(calls, [0, 0, 0, 0])
  t.ok((yield* reports.currentMonth(ours)).days.length >= 28)
})
