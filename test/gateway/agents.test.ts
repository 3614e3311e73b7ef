/** Agents over HTTP: lists, drafts and versions, triggers, secrets, copies, templates. */
import { SqlClient } from "effect/sql"
import t from "tap"
import { requiredVariablesOf } from "#core/agent/AgentGraph.ts"
import { agentTemplates } from "#core/agent/templates/AgentTemplate.ts"
import * as versions from "#core/agent/AgentVersionStore.ts"
import { AgentId } from "#core/Id.ts"
import { bodyOf, graph, type Json, openApi } from "./apiTest.ts"

const { ask, askAsOther, database, makeAgent, organizationId, upload } = await openApi(t)

const position = { x: 0, y: 0 }
const end = { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
const edge = { id: "1-2", source: "1", target: "2", data: { label: "done", condition: "All is said." } }
const finished = { ...graph, nodes: [...graph.nodes, end], edges: [edge] }
const withTrigger = (trigger_path?: string) => ({
  ...finished,
  nodes: [...finished.nodes, { id: "t", type: "trigger", position, data: { name: "T", trigger_path } }]
})
const make = (workflow_definition: object, name = "Made") => makeAgent(workflow_definition, { name })
const put = (agent: Json, change: object) => ask("PUT", `/workflow/${agent.id}`, change)
const post = (agent: Json, action: string) => ask("POST", `/workflow/${agent.id}/${action}`)
const read = async (agent: Json) => bodyOf(await ask("GET", `/workflow/fetch/${agent.id}`))
const statusesOf = async (agent: Json, query = "") => {
  const { json } = await ask("GET", `/workflow/${agent.id}/versions${query}`)
  // The cast holds because every answer is checked against its schema.
  return (json as ReadonlyArray<Json>).map(({ status, version_number }) => `${version_number} ${status}`)
}
const pathOf = (agent: Json): string => JSON.stringify(agent).match(/"trigger_path":"([^"]*)"/)?.[1] ?? ""

t.test("given agents", async (t) => {
  t.test("when they are counted and listed by name, then by status", async (t) => {
    const archived = await makeAgent()
    const active = await makeAgent()
    await ask("PUT", `/workflow/${archived.id}/status`, { status: "archived" })
    t.strictSame((await ask("GET", "/workflow/count")).json, { total: 2, active: 1, archived: 1 })
    t.strictSame((await ask("GET", "/workflow/summary?status=active")).json, [{ id: active.id, name: "Reminder" }])
    t.match((await ask("GET", "/workflow/summary?status=x")).json, { detail: /^Invalid workflow status filter: \['x'\]/ })
    t.strictSame((await askAsOther("GET", "/workflow/count")).json, { total: 0, active: 0, archived: 0 })
  })

  t.test("when it is created, then it can be read, listed, changed and archived", async (t) => {
    const agent = await makeAgent()
    const first = { version_number: 1, version_status: "published", total_runs: 0 }
    t.match(agent, { name: "Reminder", status: "active", ...first, workflow_definition: graph })
    t.strictSame((await ask("GET", `/workflow/fetch/${agent.id}`)).json, agent)
    const listed = (await ask("GET", "/workflow/fetch?status=active&limit=1&offset=1")).json
    t.match(listed, [{ id: agent.id, folder_id: null, workflow_uuid: agent["workflow_uuid"] }])
    const renamed = await ask("PUT", `/workflow/${agent.id}`, { name: "Other name" })
    t.match(renamed.json, { name: "Other name", version_number: 1 })
    const configured = await ask("PUT", `/workflow/${agent.id}`, { workflow_configurations: { max_call_duration: 60 } })
    t.match(configured.json, { version_number: 2, workflow_configurations: { max_call_duration: 60 }, workflow_definition: graph })

    t.match((await ask("PUT", `/workflow/${agent.id}/status`, { status: "archived" })).json, { status: "archived" })
    t.strictSame((await ask("GET", "/workflow/fetch?status=active&offset=1")).json, [])
    t.match((await ask("GET", "/workflow/fetch?status=archived,active&offset=2")).json, [{ id: agent.id }])
    const detail = "Invalid workflow status filter: ['x', '<empty>']. Allowed values: ['active', 'archived']."
    t.match(await ask("GET", "/workflow/fetch?status=x,"), { status: 422, json: { detail } })
    t.equal((await ask("PUT", `/workflow/${agent.id}/status`, { status: "deleted" })).status, 422)
  })

  t.test("when it does not exist, then 404 in the words of the route", async (t) => {
    t.match(await ask("GET", "/workflow/fetch/999999"), { status: 404, json: { detail: "Workflow with id 999999 not found" } })
    t.strictSame((await ask("PUT", "/workflow/999999", { name: "x" })).json, { detail: "Workflow with ID 999999 not found" })
    t.strictSame((await ask("PUT", "/workflow/999999/status", { status: "active" })).json, { detail: "Workflow with ID 999999 not found" })
    t.equal((await ask("GET", "/workflow/fetch/99999999999")).status, 422)
  })

  t.test("when there is a draft, then changes go into it until it is published", async (t) => {
    const agent = await make(finished)
    t.match((await post(agent, "publish")).json, { detail: "No draft to publish" })
    const draft = bodyOf(await post(agent, "create-draft"))
    t.match(draft, { version_number: 2, status: "draft", workflow_json: finished, published_at: null })
    const changed = bodyOf(await put(agent, { workflow_configurations: { max_call_duration: 60 } }))
    t.match(changed, { version_number: 3, version_status: "draft", current_definition_id: agent["current_definition_id"] })
    t.strictSame(await read(agent), changed)
    t.match((await ask("PUT", `/workflow/${agent.id}/status`, { status: "active" })).json, {
      version_number: 1,
      version_status: "published"
    })
    const published = bodyOf(await post(agent, "publish"))
    t.match(published, { version_number: 3, status: "published", published_at: String })
    t.match(await read(agent), { version_number: 3, version_status: "published", current_definition_id: published.id })
    t.strictSame(await statusesOf(agent), ["3 published", "2 archived", "1 archived"])
    t.strictSame(await statusesOf(agent, "?limit=1&offset=1"), ["2 archived"])
    t.match(await ask("GET", `/workflow/${agent.id}/versions?limit=101`), { status: 422 })
  })

  t.test("when a graph is not finished, then validate and publish name what is missing", async (t) => {
    const agent = await make({ ...finished, nodes: graph.nodes, edges: [] })
    t.strictSame((await post(agent, "validate")).json, { is_valid: true, errors: [] })
    await post(agent, "create-draft")
    const blank = { ...end, data: { prompt: " " } }
    await put(agent, { workflow_definition: { nodes: [blank], edges: [{ ...edge, source: "2" }] } })
    for (const action of ["validate", "publish"]) {
      const answer = await post(agent, action)
      t.equal(answer.status, 422)
      t.strictSame(answer.json, {
        detail: {
          is_valid: false,
          errors: [
            { kind: "node", id: "2", field: "name", message: "Field required" },
            { kind: "node", id: "2", field: null, message: "Value error, prompt is required for end nodes" },
            { kind: "workflow", id: null, field: null, message: "Workflow must have at least one Start Call" },
            { kind: "node", id: "2", field: null, message: "End Call cannot have outgoing edges" }
          ]
        }
      })
    }
  })

  t.test("when a tool would have an edge's name, then 422 names the node", async (t) => {
    const tool = bodyOf(await ask("POST", "/tools/", { name: "Done", definition: { schema_version: 1, type: "end_call", config: {} } }))
    const [start] = graph.nodes
    const nodes = [{ ...start, data: { ...start?.data, tool_uuids: [tool["tool_uuid"]] } }, end]
    t.match(await ask("POST", "/workflow/create/definition", { name: "x", workflow_definition: { ...finished, nodes } }), {
      status: 422,
      json: { detail: [{ msg: /"done" conflicts with custom tool "Done"/, ctx: { kind: "node", id: "1", field: "tool_uuids" } }] }
    })
    t.match(await askAsOther("POST", "/workflow/create/definition", { name: "x", workflow_definition: { ...finished, nodes } }), {
      status: 200
    })
  })

  t.test("when a setting has the wrong type, then 422 at its place, and nothing is stored", async (t) => {
    const agent = await make(finished)
    t.match(await put(agent, { name: "Renamed", workflow_configurations: { max_call_duration: 0 } }), {
      status: 422,
      json: {
        detail: [{ loc: ["body", "workflow_configurations", "max_call_duration"], msg: "Input should be greater than or equal to 1" }]
      }
    })
    t.match(await read(agent), { name: "Made", version_number: 1 })
    t.match((await put(agent, { workflow_configurations: { dictionary: null, own: 1 } })).json, { workflow_configurations: { own: 1 } })
  })

  t.test("when it is copied, then the copy is another agent in the same folder", async (t) => {
    const agent = await make(withTrigger("copied-from"), "Origin")
    const folder = bodyOf(await ask("POST", "/folder/", { name: "Copies" }))
    t.match((await ask("PUT", `/workflow/${agent.id}/folder`, { folder_id: folder.id })).json, { id: agent.id, folder_id: folder.id })
    const copy = bodyOf(await post(agent, "duplicate"))
    t.match(copy, { name: "Origin - Duplicate", version_number: 1, version_status: "published", status: "active" })
    t.not(copy["workflow_uuid"], agent["workflow_uuid"])
    t.match(pathOf(copy), /^[0-9a-f-]{36}$/)
    // The cast holds because every answer is checked against its schema.
    const listed = (await ask("GET", "/workflow/fetch")).json as ReadonlyArray<Json>
    const inFolder = listed.filter(({ folder_id }) => folder_id === folder.id)
    t.match(inFolder, [{ id: agent.id }, { id: copy.id }])
  })
})

t.test("given API triggers", async (t) => {
  t.test("when a path is left empty, then it becomes a UUID and stays", async (t) => {
    const agent = await make(withTrigger())
    t.match(pathOf(agent), /^[0-9a-f]{8}-/)
    t.equal(pathOf(await read(agent)), pathOf(agent))
    t.equal(pathOf(bodyOf(await put(agent, { workflow_definition: withTrigger("") }))), pathOf(agent))
  })

  t.test("when a path is invalid, then 422 at its place; when it is another agent's, then 409", async (t) => {
    const create = (path: string) => ask("POST", "/workflow/create/definition", { name: "x", workflow_definition: withTrigger(path) })
    t.match(await create("a/b"), {
      status: 422,
      json: {
        detail: [{ loc: ["body", "workflow_definition", "nodes", 2, "data", "trigger_path"], ctx: { id: "t", field: "trigger_path" } }]
      }
    })
    const taken = { status: 409, json: { detail: /^Trigger path is already in use/ } }
    t.equal((await create("spring-sale")).status, 200)
    t.match(await create("spring-sale"), taken)
    t.match(await put(await make(finished), { workflow_definition: withTrigger("spring-sale") }), taken)
  })
})

t.test("given keys of other services, when an agent is read, then they are masked, and the mask may be sent back", async (t) => {
  const qa = { id: "q", type: "qa", position, data: { name: "QA", qa_api_key: "sk-qa-12345678" } }
  const agent = await make({ ...finished, nodes: [...finished.nodes, qa] })
  const configured = bodyOf(await put(agent, { workflow_configurations: { model_overrides: { llm: { api_key: "sk-llm-87654321" } } } }))
  const versions = (await ask("GET", `/workflow/${agent.id}/versions`)).json
  for (const shown of [agent, configured, await read(agent), versions]) {
    t.notMatch(JSON.stringify(shown), /sk-/)
    t.match(JSON.stringify(shown), /\*{10}5678/)
  }
  await put(agent, {
    workflow_definition: configured["workflow_definition"],
    workflow_configurations: configured["workflow_configurations"]
  })
  const copy = JSON.stringify(await read(agent))
  t.match(copy, /\*{10}5678.*\*{11}4321|\*{11}4321.*\*{10}5678/)
})

t.test("given an agent's models that start out as the organization's, then their masks stand for its keys", async (t) => {
  const place = ["workflow_configurations", "model_configuration_v2_override", "byok", "realtime", "realtime", "api_key"]
  const refused = { status: 422, json: { detail: [{ loc: ["body", ...place], msg: /^The api_key appears to be masked/ }] } }
  /** The current version, unmasked. */
  const stored = async ({ id }: Json) => {
    const [version] = await database.run(function* () {
      const sql = yield* SqlClient.SqlClient
      return yield* versions.list(sql, organizationId, AgentId.make(Number(id)), { limit: 1, offset: 0 })
    })
    return version
  }

  const models = "/organizations/model-configurations/v2"
  const llm = { provider: "openai", model: "m", api_key: "sk-org-12345678" }
  const own = (given: object) => ({ version: 2, mode: "byok", byok: { mode: "realtime", realtime: { realtime: given, llm: given } } })
  const overridden = (given: object) => ({ workflow_configurations: { model_configuration_v2_override: own(given) } })
  await ask("PUT", models, own(llm))
  const agent = await make(finished)
  const shown = bodyOf(await ask("GET", models))["configuration"]
  t.match(await put(agent, overridden({ provider: "embedded", api_key: "***********5678" })), refused)
  t.equal((await put(agent, { workflow_configurations: { model_configuration_v2_override: shown } })).status, 200)
  t.match(await stored(agent), { configurations: overridden(llm).workflow_configurations })
  // Once the agent has models of its own, the organization's no longer matter to it.
  await ask("PUT", models, own({ ...llm, api_key: "sk-new-99998888" }))
  t.match(await put(agent, overridden({ ...llm, api_key: "***********8888" })), refused)
  t.equal((await put(agent, overridden({ ...llm, api_key: "***********5678" }))).status, 200)
  t.match(await stored(agent), { configurations: overridden(llm).workflow_configurations })
})

t.test("given templates", async (t) => {
  t.test("when one is used, then it creates an agent that could be published", async (t) => {
    const listed = await ask("GET", "/workflow/templates", undefined, { key: null })
    t.match(listed.json, [{ id: 1, template_name: "Appointment reminder" }, { id: 2 }, { id: 3 }])
    const agent = bodyOf(await ask("POST", "/workflow/templates/duplicate", { template_id: 2, workflow_name: "Leads" }))
    t.match(agent, { name: "Leads", version_number: 1 })
    t.strictSame((await post(agent, "validate")).json, { is_valid: true, errors: [] })
  })

  for (const { id, name } of agentTemplates)
    t.test(`when ${name} is used, then its test calls and chats have something for each column that contacts bring`, async (t) => {
      const agent = bodyOf(await ask("POST", "/workflow/templates/duplicate", { template_id: id, workflow_name: `Tried ${name}` }))
      const columns = requiredVariablesOf(bodyOf({ json: agent["workflow_definition"] }))
      t.strictSame(Object.keys(bodyOf({ json: agent["template_context_variables"] })).sort(), columns)
    })

  t.test("when there is none of that id, then 404", async (t) => {
    t.match(await ask("POST", "/workflow/templates/duplicate", { template_id: 99, workflow_name: "x" }), {
      status: 404,
      json: { detail: "Workflow template with id 99 not found" }
    })
  })
})

t.test("given nothing but the engine, when disposition codes are requested, then its own are listed", async (t) => {
  const { codes, end_task_reason_codes } = bodyOf(await ask("GET", "/organizations/disposition-codes"))
  t.match(codes, ["call_duration_exceeded", "end_call_tool", "system_cancelled", "user_hangup", "voicemail_detected", "busy"])
  t.ok(Array.isArray(end_task_reason_codes))
})

/** As the existing product's first screen requests them. */
const describe = (use_case: string, activity_description: string, call_type = "outbound") =>
  ask("POST", "/workflow/create/template", { call_type, use_case, activity_description })

t.test("given a description of an agent", async (t) => {
  for (const [useCase, activity, template] of [
    ["Dentist", "Call patients the day before and remind them of their appointment.", "Appointment reminder"],
    ["Solar", "Find out whether the prospect is interested in our panels and has a budget.", "Lead qualification"],
    ["Hotel", "Ask guests for feedback, and a rating of their stay.", "Satisfaction survey"],
    ["客服", "…", "Lead qualification"]
  ] as const) {
    await t.test(`when an agent for ${useCase} is created, then it is the ${template}, published, and any list will do`, async (t) => {
      const agent = bodyOf(await describe(useCase, activity))
      t.match(agent, { name: useCase, version_status: "published", version_number: 1 })
      const definition = JSON.stringify(agent["workflow_definition"])
      t.ok(definition.includes(activity), "then the description is in its prompt")
      const own = agentTemplates.find(({ name }) => name === template)?.definition["edges"]
      t.strictSame(Object(agent["workflow_definition"])["edges"], own)
      t.match((await ask("POST", `/workflow/${agent.id}/validate`)).json, { is_valid: true })
      const source_id = await upload("phone_number\n+15550100001\n")
      t.equal((await ask("POST", "/campaign/create", { name: "c", workflow_id: agent.id, source_type: "csv", source_id })).status, 200)
    })
  }

  await t.test("when there are agents of that name, then each gets another one, and none repeats its template's", async (t) => {
    const named = async (use_case: string) => bodyOf(await describe(use_case, "Remind patients of their appointment."))["name"]
    t.strictSame([await named("Optician"), await named(" Optician "), await named("Optician")], ["Optician", "Optician 2", "Optician 3"])
    t.strictSame([await named("Optic"), await named("Appointment reminder")], ["Optic", "Appointment reminder"])
    t.equal(await named("100%_"), "100%_")
    t.equal(await named("  "), "Appointment reminder 2")
  })

  await t.test("when the description is invalid, then 422", async (t) => {
    t.equal((await describe("", "x")).status, 422)
    t.equal((await describe("x", "y".repeat(20_001))).status, 422)
    t.equal((await describe("x", "y", "sideways")).status, 422)
    t.equal((await describe("x", "y", "inbound")).status, 200)
  })
})
