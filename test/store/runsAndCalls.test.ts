/** Finding runs, and starting single calls. */
import { Effect, Result } from "effect"
import t from "tap"
import { Agents } from "#core/agent/Agents.ts"
import { AttemptStore } from "#core/call/AttemptStore.ts"
import { Calls } from "#core/call/Calls.ts"
import { AgentId, CampaignId, RunId, TelephonyConfigId } from "#core/Id.ts"
import { parseFilters } from "#core/run/RunFilter.ts"
import { Runs } from "#core/run/Runs.ts"
import { fails, install, tag, makeAgent, makeCampaign, makeConfig, ours, theirs, upload } from "./services.ts"

const { dialed, run, sql, test } = await install(t)
const [_store, runs, calls, agents] = await run(Effect.all([AttemptStore, Runs, Calls, Agents]))
await run(makeConfig("main"))

/** Five runs: run n lasted n times ten seconds, except the last one, which is still in progress. */
const makeRuns = Effect.fnUntraced(function* () {
  const agent = yield* makeAgent()
  const { id } = yield* makeCampaign({ agentId: agent.id, sourceId: yield* upload("phone_number,first_name\n+14155550100,A\n") })
  yield* sql`INSERT INTO runs (organization_id, agent_id, agent_definition_id, campaign_id, attempt_id, name, mode, is_completed, created_at,
      initial_context, gathered_context, usage_info)
    SELECT 1, ${agent.id}::int, ${agent.currentDefinitionId}::int, ${id}::int, gen_random_uuid(), 'run ' || n, 'ari', n < 5,
      '2026-01-01T00:00:00Z'::timestamptz + n * interval '1 day', '{"phone_number":"+14155550100"}',
      jsonb_build_object('mapped_call_disposition', CASE WHEN n % 2 = 0 THEN 'busy' ELSE 'user_hangup' END),
      CASE WHEN n < 5 THEN jsonb_build_object('call_duration_seconds', n * 10) END
    FROM generate_series(1, 5) n`
  yield* sql`INSERT INTO campaign_dials (campaign_id, processed_rows, executed_count) VALUES (${id}::int, 5, 5)`
  return { agent, id }
})

test(t, "runs of a campaign: pages, order and filters", function* (t) {
  const { id } = yield* makeRuns()
  const names = (query: object) =>
    Effect.map(runs.listOfCampaign(ours, id, { page: 1, limit: 50, ...query }), (page) =>
      page.runs.map(({ name }) => name.slice(4)).join("")
    )
  const filtered = (...filters: ReadonlyArray<object>) => names({ filters: JSON.stringify(filters) })
  const result = {
    page: yield* runs.listOfCampaign(ours, id, { page: 2, limit: 2 }),
    newest: yield* names({}),
    oldest: yield* names({ sortBy: "created_at", sortOrder: "asc" }),
    longest: yield* names({ sortBy: "duration", sortOrder: "desc" }),
    shortest: yield* names({ sortBy: "duration", sortOrder: "asc" }),
    status: yield* filtered({ attribute: "status", type: "radio", value: { status: "in_progress" } }),
    codes: yield* filtered({ attribute: "dispositionCode", type: "multiSelect", value: { codes: ["busy"] } }),
    duration: yield* filtered({ attribute: "duration", type: "numberRange", value: { min: 20, max: 30 } }),
    open: yield* filtered({ attribute: "duration", type: "numberRange", value: { min: 30 } }),
    dates: yield* filtered({
      attribute: "dateRange",
      type: "dateRange",
      value: { from: "2026-01-03T00:00:00", to: "2026-01-04T00:00:00Z" }
    }),
    cost: yield* filtered({ attribute: "tokenUsage", type: "numberRange", value: { min: 1 } }),
    both: yield* filtered(
      { attribute: "status", type: "radio", value: { status: "completed" } },
      { attribute: "duration", type: "numberRange", value: { min: 40 } }
    ),
    otherType: yield* filtered({ attribute: "status", type: "multiSelect", value: { status: "completed" } }),
    foreign: yield* tag(runs.listOfCampaign(theirs, id, { page: 1, limit: 5 })),
    unknown: yield* tag(runs.listOfCampaign(ours, CampaignId.make(99_999), { page: 1, limit: 5 }))
  }
  const { page, ...rest } = result
  t.match(page, { totalCount: 5, totalPages: 3, page: 2, limit: 2, runs: [{ name: "run 3" }, { name: "run 2" }] })
  t.strictSame(rest, {
    newest: "54321",
    oldest: "12345",
    longest: "43215",
    shortest: "12345",
    status: "5",
    codes: "42",
    duration: "32",
    open: "43",
    dates: "32",
    cost: "",
    both: "4",
    otherType: "54321",
    foreign: "CampaignNotFound",
    unknown: "CampaignNotFound"
  })
})

t.test("filters without a restriction are ignored; invalid ones are refused", async (t) => {
  const parse = (text: string) => {
    const parsed = parseFilters(text)
    return Result.isFailure(parsed) ? parsed.failure._tag : parsed.success.length
  }
  const one = (attribute: string, type: string, value: unknown) => parse(JSON.stringify([{ attribute, type, value }]))
  t.strictSame(
    ["{", "{}", "7", "[7]", "null"].map(parse),
    Array.from({ length: 5 }, () => "RunFilterInvalid")
  )
  t.equal(one("dateRange", "dateRange", { from: "1" }), "RunFilterInvalid")
  t.equal(one("dateRange", "dateRange", { from: "2026-02-30T99:00:00Z" }), "RunFilterInvalid")
  t.equal(one("dispositionCode", "multiSelect", { codes: [] }), 0)
  t.equal(one("status", "radio", { status: "any" }), 0)
  t.equal(one("runId", "number", { value: 1 }), "RunAttributeRefused")
  t.equal(one("constructor", "number", {}), "RunAttributeRefused")
  t.equal(parse("[]"), 0)
})

test(t, "a run is found only with its agent and organization", function* (t) {
  const { agent, id } = yield* makeRuns()
  const [first] = (yield* runs.listOfCampaign(ours, id, { page: 1, limit: 1 })).runs
  const runId = RunId.make(first?.id ?? 0)
  const found = yield* runs.get(ours, agent.id, runId)
  const tags = [yield* tag(runs.get(theirs, agent.id, runId)), yield* tag(runs.get(ours, AgentId.make(99_999), runId))]
  t.match(found, {
    name: "run 5",
    callType: "outbound",
    isCompleted: false,
    initialContext: { phone_number: "+14155550100" },
    usageInfo: undefined
  })
  t.strictSame(tags, ["RunNotFound", "RunNotFound"])
})

test(t, "a single call reaches the dialer with its context, without reserved names", function* (t) {
  const { workflowUuid } = yield* makeAgent()
  const initialContext = {
    first_name: "Zoë",
    provider: "mine",
    runtime_configuration: {},
    mps_correlation_id: 1,
    called_number: "x",
    trigger_mode: "test"
  }
  const started = yield* calls.start(ours, { agentUuid: workflowUuid, phoneNumber: "+14155550100", initialContext })
  t.strictSame(started, { runId: 1, runName: "WR-API-1" })
  const context = dialed.at(-1)?.initialContext ?? {}
  t.match(dialed.at(-1), { organizationId: ours, phoneNumber: "+14155550100" })
  t.match(context, { first_name: "Zoë", trigger_mode: "test", agent_identifier_type: "workflow_uuid" })
  for (const name of ["provider", "runtime_configuration", "mps_correlation_id", "called_number"]) t.notOk(name in context, name)
})

test(t, "an impossible single call is refused before anything is dialed", function* (t) {
  dialed.length = 0
  const agent = yield* makeAgent()
  const archived = yield* makeAgent()
  yield* agents.setStatus(ours, archived.id, "archived")
  const call = { agentUuid: agent.workflowUuid, phoneNumber: "+14155550100" }
  yield* fails(t, [
    ["AgentNotFound", calls.start(theirs, call)],
    ["AgentNotFound", calls.start(ours, { ...call, agentUuid: "nothing" })],
    ["AgentArchived", calls.start(ours, { ...call, agentUuid: archived.workflowUuid })],
    ["TelephonyConfigNotFound", calls.start(ours, { ...call, telephonyConfigurationId: TelephonyConfigId.make(99_999) })],
    ["PhoneNumberRefused", calls.start(ours, { ...call, phoneNumber: "4155550100" })],
    ["PhoneNumberRefused", calls.start(ours, { ...call, phoneNumber: "+1415555010012345" })]
  ])
  t.strictSame(dialed, [])
})
