/** How the call of a browser's run begins in Postgres: once, and only for those whose run it is. */
import { Effect } from "effect"
import t from "tap"
import * as beginning from "#core/call/BrowserBeginning.ts"
import { BrowserRuns } from "#core/call/BrowserRuns.ts"
import { AgentId, RunId } from "#core/Id.ts"
import { newCallId } from "#runtime/dispatch/newCallId.ts"
import { install, journal, makeAgent, ours, tag, theirs } from "./services.ts"

const { run, sql, test } = await install(t)
const runs = await run(BrowserRuns)
const as = (node: string, context = {}) => ({ callId: newCallId(1000), context, journal, node, now: 1000 })

test(t, "a run is called once, whatever engines ask at the same time", function* (t) {
  const agent = yield* makeAgent()
  const { id: runId } = yield* runs.create(ours, { agentId: agent.id, name: "WR-1" })
  const of = { organizationId: ours, agentId: agent.id, runId }
  const begun = yield* Effect.forEach(
    Array.from({ length: 8 }, (_, at) => `node${at}`),
    (node) => tag(beginning.begin(sql, of, as(node))),
    { concurrency: "unbounded" }
  )
  t.equal(begun.filter((one) => one === "BrowserRunTaken").length, 7)
  t.strictSame(yield* sql`SELECT count(*)::int FROM attempts`, [{ count: 1 }])
  t.strictSame(
    yield* sql`SELECT a.state, a.telephony_configuration_id, a.phone_number, a.holds_number FROM attempts a JOIN runs r ON r.attempt_id = a.id WHERE r.id = ${runId}::int`,
    [{ state: "sent", telephonyConfigurationId: null, phoneNumber: null, holdsNumber: false }]
  )
})

test(t, "what is not the caller's, or not a browser's, is not called", function* (t) {
  const agent = yield* makeAgent()
  const { id: runId } = yield* runs.create(ours, { agentId: agent.id, name: "WR-1" })
  const of = { organizationId: ours, agentId: agent.id, runId }
  const check = function* (changed: Partial<beginning.RunOf>, expected: string) {
    t.equal(yield* tag(beginning.begin(sql, { ...of, ...changed }, as("node1"))), expected)
  }
  yield* check({ organizationId: theirs }, "RunNotFound")
  yield* check({ agentId: AgentId.make(999) }, "RunNotFound")
  yield* check({ runId: RunId.make(999_999) }, "RunNotFound")
  yield* sql`UPDATE runs SET mode = 'textchat' WHERE id = ${runId}::int`
  yield* check({}, "RunNotFound")
  yield* sql`UPDATE runs SET mode = 'smallwebrtc', is_completed = true WHERE id = ${runId}::int`
  yield* check({}, "BrowserRunTaken")
  t.strictSame(yield* sql`SELECT attempt_id FROM runs WHERE id = ${runId}::int`, [{ attemptId: null }])
})

test(t, "the page adds to what the agent knows, but not under reserved names", function* (t) {
  const agent = yield* makeAgent()
  const { id: runId } = yield* runs.create(ours, { agentId: agent.id, name: "WR-1" })
  const context = { first_name: "Ada", provider: "mine", direction: "inbound", note: "a\u0000b" }
  const begun = yield* beginning.begin(sql, { organizationId: ours, agentId: agent.id, runId }, as("node1", context))
  t.match(begun.initialContext, { first_name: "Ada", provider: "smallwebrtc", direction: "inbound", note: "a\ufffdb" })
  t.equal(begun.telephonyConfigurationId, undefined)
})
