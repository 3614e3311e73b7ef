/** Agents are tried out over the API. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import t from "tap"
import { definition } from "#test/support/talkScript.ts"
import { bodyOf, openApi } from "./apiTest.ts"

const { ask, askAsOther, database } = await openApi(t)
const next = { prompt: 'Ask: "Is there anything else?"' }
const graph = definition({ greeting: "Do you agree, {{first_name}}?" }, next)
const { id } = bodyOf(
  await ask("POST", "/workflow/create/definition", {
    name: "Asks",
    workflow_definition: graph,
    template_context_variables: { first_name: "Ada" }
  })
)
const path = `/workflow/${id}/tests`
const agrees = { name: "agrees", callee: [{ says: "Yes." }], expect: { path: ["start", "ask"], says: ["Do you agree, Ada?"] } }

t.test("given scripts, then each has its verdict, and nothing is left of them", async (t) => {
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
  const runs = await database.run(Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT count(*)::int AS count FROM runs`))
  t.strictSame(runs, [{ count: 0 }])
})

t.test("given a draft, then it is what is tried, unless another version is asked for", async (t) => {
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

t.test("given another organization's agent, or none, then there is nothing to try", async (t) => {
  t.match(await askAsOther("POST", path, { scripts: [agrees] }), { status: 404, json: { detail: `Workflow with id ${id} not found` } })
  t.equal((await askAsOther("POST", path, { scripts: [agrees], version_number: 1 })).status, 404)
  t.equal((await ask("POST", "/workflow/999999/tests", { scripts: [agrees] })).status, 404)
})

t.test("given scripts that cannot be used, then it is said what and where", async (t) => {
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
  const agent = bodyOf(
    await ask("POST", "/workflow/create/definition", {
      name: "Ends",
      workflow_definition: definition({ greeting: "Hello.", tool_uuids: [bodyOf(tool)["tool_uuid"]] })
    })
  )
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

t.test("given a graph that is not finished, then it is said what it lacks", async (t) => {
  const unfinished = bodyOf(
    await ask("POST", "/workflow/create/definition", { name: "Half", workflow_definition: { nodes: [], edges: [] } })
  )
  t.match(await ask("POST", `/workflow/${unfinished.id}/tests`, { scripts: [agrees] }), {
    status: 422,
    json: { detail: { is_valid: false } }
  })
})

t.test("given an organization that is trying an agent out, then it can try out no other meanwhile", async (t) => {
  const slow = { name: "slow", callee: [{ says: "Hm.", times: 20 }], expect: { visits: ["start"] } }
  const scripts = Array.from({ length: 50 }, (_, n) => ({ ...slow, name: `${n}` }))
  const answers = await Promise.all([ask("POST", path, { scripts }), ask("POST", path, { scripts })])
  t.strictSame(answers.map(({ status }) => status).toSorted(), [200, 429])
  t.equal(answers.find(({ status }) => status === 429)?.headers["retry-after"], "10")
  t.equal((await ask("POST", path, { scripts: [agrees], version_number: 1 })).status, 200, "afterwards it can")
})
