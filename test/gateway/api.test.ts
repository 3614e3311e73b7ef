import t from "tap"
import { ari, bodyOf, graph, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, makeAgent } = api

t.test("given an agent's definition", async (t) => {
  t.test("when it is created, then it can be read, listed, changed and archived", async (t) => {
    const agent = await makeAgent()
    t.match(agent, {
      name: "Reminder",
      status: "active",
      version_number: 1,
      version_status: "published",
      total_runs: 0,
      workflow_definition: graph
    })
    t.strictSame((await ask("GET", `/workflow/fetch/${agent.id}`)).json, agent)
    t.match((await ask("GET", "/workflow/fetch")).json, [{ id: agent.id, folder_id: null, workflow_uuid: agent["workflow_uuid"] }])

    const renamed = await ask("PUT", `/workflow/${agent.id}`, { name: "Other name" })
    t.match(renamed.json, { name: "Other name", version_number: 1 })
    const configured = await ask("PUT", `/workflow/${agent.id}`, { workflow_configurations: { max_call_duration: 60 } })
    t.match(configured.json, { version_number: 2, workflow_configurations: { max_call_duration: 60 }, workflow_definition: graph })

    t.match((await ask("PUT", `/workflow/${agent.id}/status`, { status: "archived" })).json, { status: "archived" })
    t.strictSame((await ask("GET", "/workflow/fetch?status=active")).json, [])
    t.match((await ask("GET", "/workflow/fetch?status=archived,active")).json, [{ id: agent.id }])
    const unknown = await ask("GET", "/workflow/fetch?status=x,")
    t.strictSame(
      [unknown.status, unknown.json],
      [422, { detail: "Invalid workflow status filter: ['x', '<empty>']. Allowed values: ['active', 'archived']." }]
    )
    t.equal((await ask("PUT", `/workflow/${agent.id}/status`, { status: "deleted" })).status, 422)
  })

  t.test("when the graph is wrong, then 422 names the node", async (t) => {
    const edges = [{ id: "1-9", source: "1", target: "9", data: { label: "a", condition: "b" } }]
    const answer = await ask("POST", "/workflow/create/definition", { name: "Bad", workflow_definition: { ...graph, edges } })
    t.equal(answer.status, 422)
    t.match(answer.json, { detail: [{ type: "value_error", loc: ["body", "workflow_definition"], ctx: { error: {} } }] })
  })

  t.test("when it does not exist, then 404 in the words of the route", async (t) => {
    t.match(await ask("GET", "/workflow/fetch/999999"), { status: 404, json: { detail: "Workflow with id 999999 not found" } })
    t.strictSame((await ask("PUT", "/workflow/999999", { name: "x" })).json, { detail: "Workflow with ID 999999 not found" })
    t.strictSame((await ask("PUT", "/workflow/999999/status", { status: "active" })).json, { detail: "Workflow with ID 999999 not found" })
    t.equal((await ask("GET", "/workflow/fetch/99999999999")).status, 422)
  })
})

t.test("given telephony configurations", async (t) => {
  const config = { ...ari, from_numbers: ["+1"], more: 1 }

  t.test("when one is created, then secrets are masked and unknown fields are dropped", async (t) => {
    const created = bodyOf(await ask("POST", "/organizations/telephony-configs", { name: "second", config }))
    t.match(created, { name: "second", provider: "ari", is_default_outbound: false })
    t.strictSame(created["credentials"], {
      ari_endpoint: "http://127.0.0.1:8088",
      ari_endpoints: [],
      app_name: "trunkline",
      app_password: "*****ord1",
      ws_client_name: "",
      dial_string: "PJSIP/{number}@trunk",
      allow_extensions: [],
      context: "",
      extension: "{number}",
      priority: "1",
      channel_variables: [],
      account_code: "",
      sip_headers: [],
      caller_name: "",
      transfer_dial_string: "",
      transfer_context: ""
    })
    t.strictSame((await ask("GET", `/organizations/telephony-configs/${created.id}`)).json, created)
    const again = await ask("POST", "/organizations/telephony-configs", { name: "second", config })
    t.match([again.status, again.json], [409, { detail: /^A telephony configuration named 'second' already exists/ }])
    const { configurations } = bodyOf(await ask("GET", "/organizations/telephony-configs"))
    t.match(configurations, [{ name: "second", phone_number_count: 0 }])
  })

  t.test("when the provider or a field is missing, then 422 at its place", async (t) => {
    const detail = async (wrong: object) =>
      bodyOf(await ask("POST", "/organizations/telephony-configs", { name: "x", config: wrong }))["detail"]
    t.match(await detail({}), [{ type: "union_tag_not_found", loc: ["body", "config"] }])
    t.match(await detail({ provider: "zzz" }), [{ type: "union_tag_invalid", ctx: { expected_tags: "'ari'" } }])
    t.match(await detail({ provider: "ari", ari_endpoint: "", app_name: "" }), [
      { type: "missing", loc: ["body", "config", "ari", "app_password"] }
    ])
  })

  t.test("when the providers are requested, then their fields are listed", async (t) => {
    t.match((await ask("GET", "/organizations/telephony-providers/metadata")).json, {
      providers: [
        {
          provider: "ari",
          display_name: "Asterisk ARI",
          fields: [{ name: "ari_endpoint", type: "text", required: true, sensitive: false }]
        }
      ]
    })
  })
})

t.test("given anybody", async (t) => {
  t.test("when health is requested, then it says what answers, and whether sign-up is open", async (t) => {
    t.strictSame((await ask("GET", "/health", undefined, { key: null })).json, {
      status: "ok",
      version: "9.9.9",
      backend_api_endpoint: `http://127.0.0.1:${api.port}`,
      deployment_mode: "oss",
      auth_provider: "local",
      signup_enabled: true,
      turn_enabled: false,
      force_turn_relay: false,
      tunnel_url: null
    })
  })

  t.test("when readiness is requested, then it tells the truth", async (t) => {
    t.match(await ask("GET", "/health/ready"), { status: 200, json: { status: "ready", postgres: "up", redis: "not_used", trunks: [] } })
    api.health.isUp = false
    t.match(await ask("GET", "/health/ready"), { status: 503, json: { detail: "The database does not answer" } })
  })
})
