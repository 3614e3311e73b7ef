/** Single calls: by the agent's id, by its triggers, as a test, and only once. */
import t from "tap"
import { ari, bodyOf, graph, openApi } from "./apiTest.ts"

const api = await openApi(t)
const { ask, askAsOther, dialed, makeAgent, makeRun, sql } = api

const { id: main } = bodyOf(await ask("POST", "/organizations/telephony-configs", { name: "main", config: ari }))
const number = async (address: string, isActive = true) => {
  const [row] = await sql<{ readonly id: number }>`
    INSERT INTO phone_numbers (organization_id, telephony_configuration_id, address, address_normalized, address_type, is_active, provider)
    VALUES (${api.organizationId}, ${main}, ${address}, ${address}, 'pstn', ${isActive}, 'ari') RETURNING id`
  return row?.id ?? 0
}
const good = { phone_number: "+15550100001" }
const said = async (path: string, body: object, headers = {}) => {
  const answer = await ask("POST", path, body, { headers })
  return [answer.status, bodyOf(answer)["detail"]]
}

const trigger = (path: string) => ({
  id: "2",
  type: "trigger",
  position: { x: 0, y: 1 },
  data: { name: "API", trigger_path: path, enabled: true }
})
const triggered = (path: string) => makeAgent({ ...graph, nodes: [...graph.nodes, trigger(path)] })
const currentOf = async ({ id }: { readonly id: number }) =>
  (await sql<{ readonly id: number }>`SELECT current_definition_id AS id FROM agents WHERE id = ${id}`)[0]?.id
/** Creates a draft directly, without the other effects of creating one. */
const makeDraft = async ({ id }: { readonly id: number }) => {
  const [row] = await sql<{ readonly id: number }>`
    INSERT INTO agent_definitions (organization_id, agent_id, version_number, version_status, definition, template_context_variables)
    SELECT organization_id, agent_id, version_number + 1, 'draft', definition, '{"first_name": "Draft"}' FROM agent_definitions
    WHERE agent_id = ${id} RETURNING id`
  return row?.id
}

t.test("given an agent with a draft", async (t) => {
  const agent = await makeAgent()
  const draft = await makeDraft(agent)

  t.test("when it is called in production, then the published version runs", async (t) => {
    const answer = await ask("POST", `/public/agent/workflow/${agent["workflow_uuid"]}`, { ...good, initial_context: { a: 1 } })
    t.strictSame(answer.json, { status: "initiated", workflow_run_id: 11, workflow_run_name: "WR-API-0011" })
    t.match(dialed.at(-1), { definitionId: await currentOf(agent), isTest: false, telephonyConfigurationId: main, from: undefined })
    t.match(dialed.at(-1)?.initialContext, {
      a: 1,
      trigger_mode: "production",
      agent_identifier: agent["workflow_uuid"],
      agent_identifier_type: "workflow_uuid",
      workflow_uuid: agent["workflow_uuid"]
    })
  })

  t.test("when it is tested, then the draft runs, and without one the published version", async (t) => {
    t.equal((await ask("POST", `/public/agent/test/workflow/${agent["workflow_uuid"]}`, good)).status, 200)
    t.match(dialed.at(-1), { definitionId: draft, isTest: true, initialContext: { trigger_mode: "test" } })
    const other = await makeAgent()
    t.equal((await ask("POST", `/public/agent/test/workflow/${other["workflow_uuid"]}`, good)).status, 200)
    t.match(dialed.at(-1), { definitionId: await currentOf(other), isTest: true })
  })

  t.test("when a caller ID is named, then it must be an active number of the configuration", async (t) => {
    const path = `/public/agent/workflow/${agent["workflow_uuid"]}`
    const shown = await number("+15550109001")
    t.equal((await ask("POST", path, { ...good, from_phone_number_id: shown })).status, 200)
    t.match(dialed.at(-1), { from: "+15550109001", initialContext: { from_phone_number_id: shown } })
    const refused = [400, "from_phone_number_not_found"]
    t.strictSame(await said(path, { ...good, from_phone_number_id: await number("+15550109002", false) }), refused)
    t.strictSame(await said(path, { ...good, from_phone_number_id: 999 }), refused)
  })
})

t.test("given an agent with an API trigger", async (t) => {
  const agent = await triggered("spring-sale")

  t.test("when it is called by the path, then the context says so", async (t) => {
    t.equal((await ask("POST", "/public/agent/spring-sale", good)).status, 200)
    t.match(dialed.at(-1), { agentId: agent.id, definitionId: await currentOf(agent) })
    t.match(dialed.at(-1)?.initialContext, {
      trigger_mode: "production",
      agent_identifier: "spring-sale",
      agent_identifier_type: "trigger_path",
      agent_uuid: "spring-sale",
      workflow_uuid: agent["workflow_uuid"]
    })
    t.equal((await ask("POST", "/public/agent/test/spring-sale", good)).status, 200)
    t.match(dialed.at(-1), { agentId: agent.id, isTest: true, initialContext: { trigger_mode: "test" } })
  })

  t.test("when the path is only in the draft, then it works for tests alone", async (t) => {
    const other = await triggered("only-draft")
    const draft = await makeDraft(other)
    await sql`UPDATE agent_triggers SET is_published = false, is_in_draft = true WHERE agent_id = ${other.id}`
    t.strictSame(await said("/public/agent/only-draft", good), [404, "Trigger not found in the selected Agent"])
    t.equal((await ask("POST", "/public/agent/test/only-draft", good)).status, 200)
    t.match(dialed.at(-1), { definitionId: draft })
  })

  t.test("when the path or the agent is unknown, then 404", async (t) => {
    t.strictSame(await said("/public/agent/nothing", good), [404, "Agent trigger not found"])
    t.strictSame(await said("/public/agent/workflow/no-uuid", good), [404, "Workflow not found"])
  })

  t.test("when the agent is archived, then 409 on every route", async (t) => {
    await ask("PUT", `/workflow/${agent.id}/status`, { status: "archived" })
    const inactive = [409, "Workflow is not active"]
    t.strictSame(await said("/public/agent/spring-sale", good), inactive)
    t.strictSame(await said("/public/agent/test/spring-sale", good), inactive)
    t.strictSame(await said(`/public/agent/test/workflow/${agent["workflow_uuid"]}`, good), inactive)
    t.strictSame(await said("/telephony/initiate-call", { ...good, workflow_id: agent.id }), inactive)
  })

  t.test("when there is no key in X-API-Key, then 422 if it is missing, and 401 if it is wrong", async (t) => {
    const answer = await ask("POST", "/public/agent/spring-sale", {}, { key: null })
    t.match([answer.status, answer.json], [422, { detail: [{ loc: ["header", "X-API-Key"] }] }])
    t.match(await ask("POST", "/public/agent/test/spring-sale", good, { key: "wrong" }), {
      status: 401,
      json: { detail: "Invalid API key" }
    })
  })
})

t.test("given an agent to test on the phone", async (t) => {
  const agent = await makeAgent()
  const draft = await makeDraft(agent)
  const initiate = (body: object) => said("/telephony/initiate-call", { workflow_id: agent.id, ...good, ...body })

  t.test("when a number is given, then the draft calls it, and the answer names the run", async (t) => {
    const answer = await ask("POST", "/telephony/initiate-call", { workflow_id: agent.id, ...good })
    t.strictSame([answer.status, answer.json], [200, { message: "Call initiated successfully with run name WR-API-0011" }])
    t.match(dialed.at(-1), { agentId: agent.id, definitionId: draft, isTest: true, phoneNumber: "+15550100001", initialContext: {} })
  })

  t.test("when none is given, then the organization's own is called, if it has one", async (t) => {
    const missing = [400, "Phone number must be provided in request or set in organization preferences"]
    t.strictSame(await initiate({ phone_number: null }), missing)
    await sql`UPDATE organizations SET test_phone_number = '+15550100007' WHERE id = ${api.organizationId}`
    t.equal((await initiate({ phone_number: null }))[0], 200)
    t.equal(dialed.at(-1)?.phoneNumber, "+15550100007")
    await sql`UPDATE organizations SET test_phone_number = NULL WHERE id = ${api.organizationId}`
    t.strictSame(await initiate({ phone_number: null, workflow_id: 99_999 }), missing, "asked for before the agent")
  })

  t.test("when it cannot be called, then the answer says why, on every route", async (t) => {
    const ways = [initiate, (body: object) => said(`/public/agent/workflow/${agent["workflow_uuid"]}`, { ...good, ...body })]
    for (const way of ways) {
      t.strictSame(await way({ telephony_configuration_id: 999 }), [400, "telephony_configuration_not_found"])
      t.strictSame(await way({ from_phone_number_id: 999 }), [400, "from_phone_number_not_found"])
      const e164 = "Failed to initiate call: phone_number must be in E.164 format and start with '+'"
      t.strictSame(await way({ phone_number: "123" }), [400, e164])
      t.strictSame(await way({ phone_number: "+15550100002" }), [400, "Failed to initiate call: number refused"])
      t.strictSame(await way({ phone_number: "+15550100003" }), [429, "Concurrent call limit reached"])
    }
    const [blocked] = await sql<{ readonly id: number }>`
      INSERT INTO telephony_configurations (organization_id, name, provider, credentials)
      VALUES (${api.organizationId}, 'far end', 'nosuch', '{}') RETURNING id`
    const notReady = [400, "'far end' is not ready for outbound calls. The telephony provider 'nosuch' is not installed."]
    for (const way of ways) t.strictSame(await way({ telephony_configuration_id: blocked?.id }), notReady)
    await sql`DELETE FROM telephony_configurations WHERE id = ${blocked?.id}`
    t.strictSame(await initiate({ workflow_id: 99_999 }), [404, "Workflow not found"])
    const foreign = await askAsOther("POST", "/telephony/initiate-call", { workflow_id: agent.id, ...good })
    t.strictSame([foreign.status, foreign.json], [400, { detail: "telephony_not_configured" }])
  })

  t.test("when a run is named, then it has already had its call", async (t) => {
    const run = (is_completed: boolean) => makeRun(agent.id, { is_completed })
    t.strictSame(await initiate({ workflow_run_id: 99_999 }), [400, "Workflow run not found"])
    t.strictSame(await initiate({ workflow_run_id: await run(false) }), [409, "Workflow run already has an active call"])
    t.strictSame(await initiate({ workflow_run_id: await run(true) }), [409, "Workflow run already has a finished call"])
    const other = await makeAgent()
    t.strictSame(await initiate({ workflow_id: other.id, workflow_run_id: await run(true) }), [400, "workflow_run_workflow_mismatch"])
  })
})

t.test("given a request to call with a key", async (t) => {
  const agent = await makeAgent()
  const path = `/public/agent/workflow/${agent["workflow_uuid"]}`
  const call = (key: string, body: object = good, to = path) => ask("POST", to, body, { headers: { "Idempotency-Key": key } })
  const callIdOf = async (key: string) => (await sql<{ readonly id: string }>`SELECT id FROM idempotency_keys WHERE key = ${key}`)[0]?.id
  /** The state that a process leaves behind that dies before it has answered. */
  const die = (key: string) => sql`UPDATE idempotency_keys SET status = NULL, body = NULL, leased_until = now() WHERE key = ${key}`

  t.test("when it is sent again, then the answer is the first one, and nobody is called twice", async (t) => {
    const before = dialed.length
    const first = await call("k-1", { ...good, initial_context: { a: 1, b: { c: 2, d: 3 } } })
    const second = await call("k-1", { initial_context: { b: { d: 3, c: 2 }, a: 1 }, ...good })
    t.strictSame([first.status, first.headers["idempotency-replayed"]], [200, undefined])
    t.strictSame([second.status, second.text, second.headers["idempotency-replayed"]], [200, first.text, "true"])
    t.equal(dialed.length, before + 1)
    t.equal(dialed.at(-1)?.callId, await callIdOf("k-1"), "the call has the id that is kept with the key")
  })

  t.test("when the same key comes with other content, then 422", async (t) => {
    const detail = "This Idempotency-Key was used for a request with different content"
    t.match(await call("k-1", { phone_number: "+15550100009" }), { status: 422, json: { detail } })
    const other = await makeAgent()
    t.match(await call("k-1", good, `/public/agent/workflow/${other["workflow_uuid"]}`), { status: 422, json: { detail } })
  })

  t.test("when another route or organization uses the same key, then it counts as another request", async (t) => {
    const before = dialed.length
    const test = `/public/agent/test/workflow/${agent["workflow_uuid"]}`
    t.equal((await call("k-1", good, test)).headers["idempotency-replayed"], undefined)
    t.equal((await call("k-1", { workflow_id: agent.id, ...good }, "/telephony/initiate-call")).status, 200)
    t.equal((await call("k-1", good, test)).headers["idempotency-replayed"], "true")
    t.equal(dialed.length, before + 2)
  })

  t.test("when it was refused, then it is refused again without another attempt", async (t) => {
    const first = await call("k-2", { phone_number: "+15550100002" })
    const before = dialed.length
    const second = await call("k-2", { phone_number: "+15550100002" })
    t.strictSame([first.status, second.status, second.text], [400, 400, first.text])
    t.equal(dialed.length, before)
  })

  t.test("when there was no room for it, then the next one is a new attempt", async (t) => {
    const full = { phone_number: "+15550100003" }
    const first = await call("k-7", full)
    const before = dialed.length
    const second = await call("k-7", full)
    t.strictSame([first.status, second.status, second.headers["idempotency-replayed"]], [429, 429, undefined])
    t.equal(dialed.length, before + 1)
  })

  t.test("when it is still being answered, then 409", async (t) => {
    await call("k-3")
    await die("k-3")
    await sql`UPDATE idempotency_keys SET leased_until = now() + interval '1 minute' WHERE key = 'k-3'`
    t.match(await call("k-3"), { status: 409, json: { detail: "A request with this Idempotency-Key is still in progress" } })
  })

  t.test("when many are sent at the same time, then one places a call", async (t) => {
    const before = dialed.length
    const answers = await Promise.all(Array.from({ length: 10 }, () => call("k-4")))
    t.equal(dialed.length, before + 1)
    t.ok(answers.every(({ status }) => status === 200 || status === 409))
  })

  t.test("when its process died before the call was started, then the next one places it, under the same id", async (t) => {
    await call("k-5")
    const [id, before] = [await callIdOf("k-5"), dialed.length]
    await die("k-5")
    t.equal((await call("k-5")).status, 200)
    t.strictSame([dialed.length, dialed.at(-1)?.callId], [before + 1, id])
  })

  t.test("when its process died after the call was started, then the answer says what became of it, and nobody is called", async (t) => {
    await call("k-6")
    const id = await callIdOf("k-6")
    const before = dialed.length
    const next = async (state: string, sent: boolean) => {
      await sql`INSERT INTO attempts (id, organization_id, telephony_configuration_id, node, state, sent_at)
        VALUES (${id}::uuid, ${api.organizationId}, ${main}, 'n', ${state}, CASE WHEN ${sent} THEN now() END)
        ON CONFLICT (id) DO UPDATE SET state = excluded.state, sent_at = excluded.sent_at`
      await die("k-6")
      const { json, status } = await call("k-6")
      return [status, json]
    }
    t.strictSame(await next("void", false), [400, { detail: "Failed to initiate call: It was never sent to the provider." }])
    t.strictSame(await next("intent", false), [503, { detail: "It is not yet known whether the call was placed" }])
    const run = await makeRun(agent.id, { attempt_id: id, name: "WR-API-6" })
    const initiated = [200, { status: "initiated", workflow_run_id: run, workflow_run_name: "WR-API-6" }]
    t.strictSame(await next("sent", true), initiated)
    t.strictSame(await next("ended", true), initiated)
    t.equal(dialed.length, before)
  })

  t.test("when a day has passed, then the key is new", async (t) => {
    const before = dialed.length
    await sql`UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key <> 'k-5'`
    t.equal((await call("k-1", { phone_number: "+15550100008" })).status, 200)
    t.strictSame([dialed.length, dialed.at(-1)?.phoneNumber], [before + 1, "+15550100008"])
  })

  t.test("when the key is empty or too long, then 422", async (t) => {
    t.equal((await call("k".repeat(256))).status, 422)
  })
})
