/** The runs of calls from a browser, before they begin. */
import { Layer } from "effect"
import t from "tap"
import { BrowserCallRefused } from "#core/call/BrowserCalls.ts"
import { TurnServers } from "#core/call/TurnServers.ts"
import { bodyOf, graph, openApi } from "./apiTest.ts"

const turn = { urls: ["turn:a.example"], ttlSeconds: 60, password: "p" }
const turnServers = {
  isSet: true,
  credentials: (user: string, now: number) => (now > 0 && turnServers.isSet ? { ...turn, username: user } : undefined)
}
const { ask, askAsOther, browsers, makeAgent, makeKey, organizationId, sql } = await openApi(t, Layer.succeed(TurnServers, turnServers))

const wanted = { mode: "smallwebrtc", name: "WR-9075" }
const pathOf = (agent: { readonly id: number }) => `/workflow/${agent.id}/runs`

t.test("given an agent with a draft, when a run is created, then it is of the draft, and knows the draft's variables", async (t) => {
  const agent = await makeAgent(graph, { template_context_variables: { city: "Berlin" } })
  await ask("POST", `/workflow/${agent.id}/create-draft`)
  await ask("PUT", `/workflow/${agent.id}`, { template_context_variables: { city: "Paris", provider: "mine", called_number: "1" } })
  const made = bodyOf(await ask("POST", pathOf(agent), wanted))
  const initial_context = { direction: "inbound", city: "Paris", provider: "smallwebrtc" }
  t.match(made, { ...wanted, workflow_id: agent.id, created_at: /Z$/ })
  t.strictSame(made["initial_context"], initial_context)
  t.strictSame(await sql`SELECT version_status AS status FROM agent_definitions WHERE id = ${made["definition_id"]}`, [{ status: "draft" }])
  const run = bodyOf(await ask("GET", `${pathOf(agent)}/${made.id}`))
  t.match(run, { mode: "smallwebrtc", call_type: "inbound", is_completed: false, initial_context })
})

t.test(
  "given an agent, when a run is created, then its call is expected; and if nobody can expect it, there is a run all the same",
  async (t) => {
    const agent = await makeAgent()
    const first = bodyOf(await ask("POST", pathOf(agent), wanted))
    browsers.refusal = new BrowserCallRefused({ reason: "not here" })
    const second = await ask("POST", pathOf(agent), wanted)
    browsers.refusal = undefined
    t.equal(second.status, 200)
    t.strictSame(browsers.expected.slice(-2), [first["id"], bodyOf(second)["id"]])
  }
)

t.test("given variables that say so, then the call counts as outbound", async (t) => {
  const agent = await makeAgent(graph, { template_context_variables: { direction: "outbound" } })
  const made = bodyOf(await ask("POST", pathOf(agent), wanted))
  t.match(bodyOf(await ask("GET", `${pathOf(agent)}/${made.id}`)), { call_type: "outbound", initial_context: { direction: "outbound" } })
})

t.test("given what a run cannot be of, then it is refused, and there is none", async (t) => {
  const agent = await makeAgent()
  const path = pathOf(agent)
  const refused = async (status: number, detail: unknown, answer: Promise<{ readonly status: number; readonly json: unknown }>) => {
    const { json, status: given } = await answer
    t.equal(given, status)
    t.match(json, { detail })
  }
  await refused(422, [{ loc: ["body", "mode"] }], ask("POST", path, { ...wanted, mode: "ari" }))
  await refused(404, "Workflow with ID 999999 not found", ask("POST", "/workflow/999999/runs", wanted))
  await refused(404, `Workflow with ID ${agent.id} not found`, askAsOther("POST", path, wanted))
  await refused(403, "Your role does not allow this", ask("POST", path, wanted, { key: await makeKey({ role: "viewer" }) }))
  await ask("PUT", `/workflow/${agent.id}/status`, { status: "archived" })
  await refused(409, "Workflow is not active", ask("POST", path, wanted))
  t.strictSame(await sql`SELECT id FROM runs WHERE agent_id = ${agent.id}`, [])
})

t.test("given a TURN server, then members get credentials for it, and the features name it; without one, 404", async (t) => {
  t.strictSame(bodyOf(await ask("GET", "/turn/credentials")), {
    username: `organization-${organizationId}`,
    password: "p",
    ttl: 60,
    uris: ["turn:a.example"]
  })
  t.equal((await ask("GET", "/turn/credentials", undefined, { key: await makeKey({ role: "viewer" }) })).status, 403)
  t.match(bodyOf(await ask("GET", "/health")), { turn_enabled: true })
  turnServers.isSet = false
  t.match(await ask("GET", "/turn/credentials"), { status: 404, json: { detail: "No TURN server is configured" } })
})
