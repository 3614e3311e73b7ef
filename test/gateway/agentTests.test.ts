/** Testing agents over the API. */
import t from "tap"
import { definition } from "#test/support/talkScript.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, makeAgent, sql } = await openApi(t)
const next = { prompt: 'Ask: "Is there anything else?"' }
const graph = definition({ greeting: "Do you agree, {{first_name}}?" }, next)
const { id } = await makeAgent(graph, { template_context_variables: { first_name: "Ada" } })
const path = `/workflow/${id}/tests`
const agrees = { name: "agrees", callee: [{ says: "Yes." }], expect: { path: ["start", "ask"], says: ["Do you agree, Ada?"] } }

t.test("given scripts, then each gets its verdict, and nothing is stored", async (t) => {
  const refuses = { name: "refuses", callee: [{ says: "No." }], expect: { path: ["start", "ask"], disposition: "user_qualified" } }
  const answer = await ask("POST", path, { scripts: [agrees, refuses] })
  t.match(answer, {
    status: 200,
    json: {
      passed: false,
      version_number: 1,
      version_status: "published",
      verdicts: [
        { name: "agrees", passed: true, failures: [], path: ["start", "ask"], edges: ["Yes"], disposition: "user_hangup" },
        {
          name: "refuses",
          passed: false,
          failures: [
            { check: "path", message: "expected start > ask; came start > sorry", expected: ["start", "ask"], came: ["start", "sorry"] }
          ],
          transcript: [
            { who: "agent", text: "Do you agree, Ada?", node: "start" },
            { who: "callee", text: "No.", node: "start" },
            { who: "agent", node: "sorry" }
          ]
        }
      ]
    }
  })
  t.match(await ask("POST", path, { scripts: [agrees], context: { first_name: "Bob" } }), {
    json: { passed: false, verdicts: [{ failures: [{ check: "says" }] }] }
  })
  t.strictSame(await sql`SELECT 1 FROM runs`, [])
})

t.test("given a draft, then it is tested, unless another version is requested", async (t) => {
  await ask("POST", `/workflow/${id}/create-draft`)
  await ask("PUT", `/workflow/${id}`, { workflow_definition: definition({ greeting: "Is it true, {{first_name}}?" }, next) })
  t.match(await ask("POST", path, { scripts: [agrees] }), { json: { passed: false, version_number: 3, version_status: "draft" } })
  t.match(await ask("POST", path, { scripts: [agrees], version_number: 1 }), {
    json: { passed: true, version_number: 1, version_status: "published" }
  })
  t.match(await ask("POST", path, { scripts: [agrees], version_number: 9 }), {
    status: 404,
    json: { detail: `Workflow with id ${id} has no such version` }
  })
})

t.test("given invalid scripts, then the answer says what is wrong and where", async (t) => {
  const refused = async (body: object, loc: ReadonlyArray<string | number>, msg: string | RegExp) =>
    t.match(await ask("POST", path, body), { status: 422, json: { detail: [{ loc: ["body", ...loc], msg }] } })
  await refused({ scripts: [] }, ["scripts"], /at least 1 item/)
  await refused({ scripts: [{ ...agrees, expects: {} }] }, ["scripts", 0, "expects"], /Extra inputs are not permitted/)
  await refused(
    { scripts: [agrees, { ...agrees, name: "x", callee: [{ shouts: "Yes." }] }] },
    ["scripts", 1, "callee", 0, "shouts"],
    /Extra/
  )
  await refused({ scripts: [{ ...agrees, expect: { path: ["begin"] } }] }, ["scripts", 0, "expect", "path", 0], /has no node 'begin'/)
})

t.test("given an agent with tools, then they are those of the organization, and the script answers for them", async (t) => {
  const end = { schema_version: 1, type: "end_call", config: { messageType: "custom", customMessage: "So long, {{first_name}}." } }
  const tool = await ask("POST", "/tools/", { name: "Hang up", description: "Says goodbye.", definition: end })
  const agent = await makeAgent(definition({ greeting: "Hello.", tool_uuids: [bodyOf(tool)["tool_uuid"]] }))
  const leaves = {
    name: "leaves",
    callee: [{ says: "Goodbye." }],
    expect: { calls: ["Hang up"], disposition: "end_call_tool", says: ["so long"] }
  }
  t.match(await ask("POST", `/workflow/${agent.id}/tests`, { scripts: [leaves], context: { first_name: "Ada" } }), {
    json: {
      passed: true,
      verdicts: [{ transcript: [{}, {}, { who: "event", text: "calls hang_up" }, { who: "agent", text: "So long, Ada." }] }]
    }
  })
})

t.test("given a graph that is not finished, then the answer says what it lacks", async (t) => {
  const unfinished = await makeAgent({ nodes: [], edges: [] })
  const answer = await ask("POST", `/workflow/${unfinished.id}/tests`, { scripts: [agrees] })
  t.match(answer, { status: 422, json: { detail: { is_valid: false } } })
})

t.test("given an organization that is testing an agent, then it cannot test another one at the same time", async (t) => {
  const slow = { name: "slow", callee: [{ says: "Hm.", times: 20 }], expect: { visits: ["start"] } }
  const scripts = Array.from({ length: 50 }, (_, n) => ({ ...slow, name: `${n}` }))
  const answers = await Promise.all([ask("POST", path, { scripts }), ask("POST", path, { scripts })])
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, 429])
  t.equal(answers.find(({ status }) => status === 429)?.headers["retry-after"], "10")
  t.equal((await ask("POST", path, { scripts: [agrees], version_number: 1 })).status, 200, "afterwards it can")
})

t.test("given scripts that compare many words with a long text, then they cost little more than to read them", async (t) => {
  const agent = await makeAgent(definition({ greeting: "ก".repeat(3000) }))
  const words = Array.from({ length: 100 }, (_, n) => `word ${n}`)
  /** User CPU time, in microseconds. */
  const costOf = async (expect: object) => {
    const scripts = Array.from({ length: 20 }, (_, n) => ({ name: `${n}`, callee: [{ says: "Yes." }], expect }))
    const before = process.cpuUsage()
    const answer = await ask("POST", `/workflow/${agent.id}/tests`, { scripts })
    const { user } = process.cpuUsage(before)
    t.equal(answer.status, 200)
    return user
  }
  // The first run includes compilation.
  await costOf({ says: ["word"] })
  const few = await costOf({ says: ["word"] })
  const many = await costOf({ never_says: words, says: words })
  // They share the thread with everybody's calls. Each of the 4,000 comparisons used to take most of a millisecond.
  t.ok(many < 5 * few + 500_000, `${many / 1000} ms, and with one word ${few / 1000} ms`)
})
