/** Agents whose graph is not finished: they are stored, and nobody is ever called with them. */
import t from "tap"
import { ari, bodyOf, csv, graph, type Json, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, dialed, makeAgent: create, upload } = api

const position = { x: 0, y: 0 }
const end = { id: "2", type: "endCall", position, data: { name: "End", prompt: "Say goodbye." } }
const startless = { nodes: [end], edges: [] }
const reason = /no published version: Workflow must have at least one Start Call/
const put = async ({ id }: Json, change: object) => bodyOf(await ask("PUT", `/workflow/${id}`, change))
const post = ({ id }: Json, action: string) => ask("POST", `/workflow/${id}/${action}`)
const statusesOf = async ({ id }: Json) => {
  const { json } = await ask("GET", `/workflow/${id}/versions`)
  // The cast holds because every answer is checked against its schema.
  return (json as ReadonlyArray<Json>).map(({ status, version_number }) => `${version_number} ${status}`)
}

await ask("POST", "/organizations/telephony-configs", { name: "pbx", is_default_outbound: true, config: ari })

t.test("given a graph without a start node", async (t) => {
  for (const definition of [startless, {}, { nodes: [], edges: [] }]) {
    await t.test(
      `when an agent is created with ${JSON.stringify(definition)}, then it is a draft, and no route can start a call with it`,
      async (t) => {
        const agent = await create(definition)
        t.match(agent, { version_status: "draft", version_number: 1, current_definition_id: null, status: "active" })
        t.strictSame(bodyOf(await ask("GET", `/workflow/fetch/${agent.id}`)), agent)
        const call = { phone_number: "+15550100001" }
        const refused = { status: 409, json: { detail: reason } }
        t.match(await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, call), refused)
        for (const way of [`/public/agent/test/workflow/${agent["workflow_uuid"]}`, "/telephony/initiate-call"]) {
          t.match(await ask("POST", way, { ...call, workflow_id: agent.id }), {
            status: 409,
            json: { detail: /draft is not finished: Workflow must have/ }
          })
        }
        const source_id = await upload(csv)
        const campaign = bodyOf(await ask("POST", "/campaign/create", { name: "c", workflow_id: agent.id, source_type: "csv", source_id }))
        t.match(await ask("POST", `/campaign/${campaign.id}/start`), refused)
        t.match(await ask("GET", `/campaign/${campaign.id}`), { json: { state: "draft" } })
        t.match((await ask("PUT", `/workflow/${agent.id}/status`, { status: "archived" })).json, {
          status: "archived",
          version_status: "draft"
        })
      }
    )
  }

  await t.test("when a trigger of such an agent is called, then 409 as well", async (t) => {
    const trigger = { id: "t", type: "trigger", position, data: { name: "T", trigger_path: "unfinished" } }
    await create({ nodes: [end, trigger], edges: [] })
    t.match(await ask("POST", "/public/agent/unfinished", { phone_number: "+15550100001" }), { status: 409, json: { detail: reason } })
  })

  await t.test("when a published agent is changed to it, then calls continue with the previous version", async (t) => {
    const agent = await create(graph)
    t.match(agent, { version_status: "published", version_number: 1 })
    const changed = await put(agent, { workflow_definition: startless })
    t.match(changed, { version_status: "draft", version_number: 2, current_definition_id: agent["current_definition_id"] })
    t.match(changed["workflow_definition"], startless)
    t.strictSame(await statusesOf(agent), ["2 draft", "1 published"])
    t.equal((await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, { phone_number: "+15550100001" })).status, 200)
    t.equal(dialed.at(-1)?.definitionId, agent["current_definition_id"])
    t.equal((await post(agent, "publish")).status, 422)
    await put(agent, { template_context_variables: { a: "b" } })
    t.strictSame(await statusesOf(agent), ["3 draft", "2 archived", "1 published"], "a change of something else does not finish it")
    t.match(await put(agent, { workflow_definition: graph }), { version_status: "published", version_number: 4 })
    t.strictSame(await statusesOf(agent), ["4 published", "3 archived", "2 archived", "1 archived"], "a finished graph takes its place")
  })

  await t.test("when it is created and then finished, then it is published and called", async (t) => {
    const agent = await create({})
    const finished = await put(agent, { workflow_definition: graph })
    t.match(finished, { version_status: "published", version_number: 2, current_definition_id: Number })
    t.equal((await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, { phone_number: "+15550100001" })).status, 200)
  })

  await t.test("when somebody starts to work on the draft, then it waits to be published, and can be tested", async (t) => {
    const agent = await create({})
    t.match((await post(agent, "create-draft")).json, { version_number: 1, status: "draft" })
    t.match(await put(agent, { workflow_definition: graph }), { version_status: "draft", current_definition_id: null })
    const call = { phone_number: "+15550100001" }
    t.match(await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, call), {
      status: 409,
      json: { detail: "Workflow has no published version: nobody has published its draft" }
    })
    t.equal((await ask("POST", `/public/agent/test/workflow/${agent["workflow_uuid"]}`, call)).status, 200)
    t.match((await post(agent, "publish")).json, { version_number: 2, status: "published" })
    t.equal((await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, call)).status, 200)
  })
})

t.test("given a graph with transient editor state", async (t) => {
  const [start] = graph.nodes
  const moment = { selected: true, dragging: false, invalid: true, hovered_through_edge: true }
  const edge = { id: "1-2", source: "1", target: "2", data: { label: "done", condition: "All is said." } }
  const sent = {
    ...graph,
    nodes: [{ ...start, ...moment, data: { ...start?.data, ...moment, validationMessage: "kept" } }, end],
    edges: [{ ...edge, ...moment, data: { ...edge.data, ...moment } }]
  }
  const kept = { ...graph, nodes: [{ ...start, data: { ...start?.data, validationMessage: "kept" } }, end], edges: [edge] }
  const agent = await create(sent)
  t.strictSame(agent["workflow_definition"], kept, "then that is not stored when the agent is created")
  t.strictSame((await put(agent, { workflow_definition: sent }))["workflow_definition"], kept, "nor when it is changed")
})

t.test("given settings along with the graph of a new agent", async (t) => {
  const agent = await create(graph, {
    workflow_configurations: { max_call_duration: 60 },
    template_context_variables: { first_name: "Ada" }
  })
  t.match(agent, { workflow_configurations: { max_call_duration: 60 }, template_context_variables: { first_name: "Ada" } })
  const wrong = { name: "x", workflow_definition: graph, workflow_configurations: { max_call_duration: 0 } }
  t.match(await ask("POST", "/workflow/create/definition", wrong), {
    status: 422,
    json: { detail: [{ loc: ["body", "workflow_configurations", "max_call_duration"] }] }
  })
})

t.test("given an earlier published graph that is not finished", async (t) => {
  const agent = await create(graph)
  await api.sql`UPDATE agent_definitions SET definition = '{}' WHERE agent_id = ${agent.id}`
  const renamed = await put(agent, { name: "Renamed", template_context_variables: { a: "b" } })
  t.match(renamed, { name: "Renamed", version_status: "published" }, "then another change is published as before")
})
