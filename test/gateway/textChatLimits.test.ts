/** The context of text chats: lists and reports, repeated requests, quotas, other organizations, and chats that nobody continues. */
import { Deferred, Effect } from "effect"
import t from "tap"
import { definition, node } from "#test/support/talkScript.ts"
import { untilTrue } from "#test/support/until.ts"
import { bodyOf } from "./apiTest.ts"
import { type Chat, chatIn, openChats, said } from "./textChatTest.ts"

const { ask, askAsOther, asked, begin, makeAgent, makeRun, orders, organizationId, sql } = await openChats(t)

t.test("given a chat that is over, then lists show it, reports do not, and other organizations do not see it", async (t) => {
  const webhook = node("hook", "webhook", {
    enabled: true,
    http_method: "POST",
    endpoint_url: "https://example.org/",
    payload_template: {}
  })
  const graph = definition({ greeting: "Hi." })
  const nodes: unknown = graph["nodes"]
  const agent = await makeAgent({ ...graph, nodes: [...(Array.isArray(nodes) ? nodes : []), webhook] })
  const { say } = await begin(agent)
  const over = await say("no")
  t.equal(over.is_completed, true)
  const list = bodyOf(await ask("GET", `/workflow/${agent.id}/runs`))
  t.match(list, { total_count: 1, runs: [{ id: over.workflow_run_id, mode: "textchat" }] })
  const filters = encodeURIComponent(JSON.stringify([{ attribute: "callChannel", type: "radio", value: { status: "chat" } }]))
  t.match(JSON.stringify((await ask("GET", `/organizations/usage/runs?filters=${filters}`)).json), `"id":${over.workflow_run_id}`)
  t.equal((await ask("GET", `/workflow/${agent.id}/report`)).text.trim().split("\n").length, 1, "only its head")
  const today = new Date().toISOString().slice(0, 10)
  t.match(await ask("GET", `/organizations/reports/daily?date=${today}&timezone=UTC`), { json: { metrics: { total_runs: 0 } } })
  const [left] =
    await sql`SELECT (SELECT count(*)::int FROM node_webhook_deliveries) AS webhooks, (SELECT count(*)::int FROM attempts) AS attempts,
    (SELECT count(*)::int FROM events WHERE subject = ${`runs/${over.workflow_run_id}`}) AS events`
  t.strictSame(left, { webhooks: 0, attempts: 0, events: 0 })
})

t.test("given a request that is repeated with its key, then it has happened once", async (t) => {
  const agent = await makeAgent()
  const headers = { "idempotency-key": "chat-1" }
  const first = chatIn(await ask("POST", agent.sessions, {}, { headers }))
  t.strictSame(chatIn(await ask("POST", agent.sessions, {}, { headers })), first)
  const path = `${agent.sessions}/${first.workflow_run_id}`
  const message = { text: "hm", expected_revision: 1 }
  const next = chatIn(await ask("POST", `${path}/messages`, message, { headers }))
  // As after a crash between the change and the storing of its answer.
  await sql`UPDATE idempotency_keys SET status = NULL, body = NULL, leased_until = now()`
  t.strictSame(chatIn(await ask("POST", `${path}/messages`, message, { headers })), next)
  t.equal(chatIn(await ask("POST", agent.sessions, {}, { headers })).workflow_run_id, first.workflow_run_id)
})

t.test("given quotas", async (t) => {
  const agent = await makeAgent()
  const { path, say } = await begin(agent)
  const quotas = (body: object) => ask("PUT", "/organizations/quotas", body)
  await sql`UPDATE api_keys SET role = 'owner' WHERE organization_id = ${organizationId}`
  t.equal((await quotas({ text_chats: 1, text_chat_turns: 2 })).status, 200)
  t.match(await ask("POST", agent.sessions, {}), { status: 409, json: { detail: /'text_chats' is full/ } })
  await say("hm")
  t.match(await ask("POST", `${path}/messages`, { text: "hm" }), { status: 409, json: { detail: /'text_chat_turns' is full: 2 of 2/ } })
  await quotas({ text_chats: null, text_chat_turns: null })
  t.match(await ask("POST", `${path}/messages`, { text: "x".repeat(2001) }), {
    status: 422,
    json: { detail: [{ type: "string_too_long" }] }
  })
  t.match(await ask("POST", `${path}/messages`, { text: "" }), { status: 422, json: { detail: [{ type: "string_too_short" }] } })
  t.equal(said(chatIn(await ask("GET", path))).length, 3)
})

t.test("given a chat with the maximum length, then it can be read and ended, but not continued", async (t) => {
  const { chat, path, say } = await begin(await makeAgent())
  await say("hm")
  await sql`UPDATE text_chat_turns SET turn = jsonb_set(turn, '{assistant_message,text}', to_jsonb(repeat('x', 1000000)))
    WHERE run_id = ${chat.workflow_run_id} AND place = 2`
  const detail = "Text chat session is as long as one can be, begin another one"
  t.match(await ask("POST", `${path}/messages`, { text: "hm" }), { status: 409, json: { detail } })
  t.equal((await ask("GET", path)).status, 200)
  t.equal(chatIn(await ask("POST", `${path}/end`, {})).is_completed, true)
})

t.test("given as many messages as an organization may have in progress, then others are told when to retry", async (t) => {
  const agent = await makeAgent(definition())
  const other = bodyOf(await askAsOther("POST", "/workflow/create/definition", { name: "Other", workflow_definition: definition() }))
  const gate = Deferred.makeUnsafe<void>()
  const before = asked()
  orders.push(...Array.from({ length: 20 }, () => Deferred.await(gate)))
  const waiting = Array.from({ length: 20 }, () => ask("POST", agent.sessions, {}))
  await untilTrue("twenty questions to the model", () => asked() === before + 20)
  const refused = await ask("POST", agent.sessions, {})
  t.match([refused.status, refused.headers["retry-after"]], [429, "5"])
  t.equal((await askAsOther("POST", `/workflow/${other.id}/text-chat/sessions`, {})).status, 200, "but not those of other organizations")
  Deferred.doneUnsafe(gate, Effect.void)
  for (const answer of await Promise.all(waiting)) t.equal(answer.status, 200)
  t.equal((await ask("POST", agent.sessions, {})).status, 200)
})

t.test("given a run that is not a text chat of the agent", async (t) => {
  const agent = await makeAgent()
  const { path } = await begin(agent)
  const detail = { detail: "Text chat session not found" }
  for (const [method, way, body] of [
    ["GET", "", undefined],
    ["POST", "/messages", { text: "hm" }],
    ["POST", "/rewind", {}],
    ["POST", "/end", {}]
  ] as const) {
    t.match(await ask(method, `${agent.sessions}/2147483000${way}`, body), { status: 404, json: detail }, `${method} ${way} of no run`)
    t.match(await ask(method, path.replace(`/workflow/${agent.id}/`, "/workflow/2147483000/") + way, body), { status: 404, json: detail })
  }
  t.match(await ask("GET", `${agent.sessions}/${await makeRun(agent.id)}`), {
    status: 400,
    json: { detail: "Workflow run is not a text chat session" }
  })
})

const makeLate = (chat: Chat) => sql`UPDATE text_chats SET expires_at = now() - interval '1 minute' WHERE run_id = ${chat.workflow_run_id}`

t.test("given a chat that nobody has written to for too long, then the next message finds it over", async (t) => {
  const { chat, path } = await begin(await makeAgent(), {})
  await makeLate(chat)
  const late = await ask("POST", `${path}/messages`, { text: "hm" })
  t.strictSame([late.status, late.json], [400, { detail: "Text chat session has ended" }])
  t.match(chatIn(await ask("GET", path)), {
    is_completed: true,
    revision: 2,
    gathered_context: { call_disposition: "user_idle_max_duration_exceeded", call_tags: ["user_idle_max_duration_exceeded"] }
  })
})

t.test("given the time that an agent waits for messages, then each message restarts it", async (t) => {
  const agent = await makeAgent(undefined, { workflow_configurations: { text_chat_inactivity_timeout_seconds: 60 } })
  const { chat, say } = await begin(agent)
  const waits = async () => {
    const [row] = await sql<{ readonly seconds: number }>`
      SELECT round(extract(epoch FROM expires_at - updated_at))::int AS seconds FROM text_chats WHERE run_id = ${chat.workflow_run_id}`
    return row?.seconds
  }
  t.equal(await waits(), 60)
  await say("hm")
  t.equal(await waits(), 60)
})

t.test("given an organization whose transcripts are deleted, then the texts of its chats are gone too", async (t) => {
  const agent = await makeAgent()
  const { path, say } = await begin(agent)
  const over = await say("no")
  const run = `/workflow/${agent.id}/runs/${over.workflow_run_id}`
  t.equal((await ask("DELETE", `${run}/artifacts`)).status, 200)
  t.strictSame(chatIn(await ask("GET", path)).session_data.turns, [])
  t.equal((await ask("GET", `${run}/transcript`)).status, 404)
  const [left] = await sql`SELECT count(*)::int AS turns FROM text_chat_turns WHERE run_id = ${over.workflow_run_id}`
  t.strictSame(left, { turns: 0 })
})
