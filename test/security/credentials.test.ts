/** A credential is sent only to hosts an administrator chose, and a user who may not read it cannot have it sent to their own server. */
import t from "tap"
import { type Answer, type Api, untilTrue, World } from "#test/support/engine.ts"
import { arrived, receiver, webhook } from "#test/support/nodeWebhooks.ts"
import { colleague } from "./tenants.ts"

t.setTimeout(1_800_000)

interface Graph {
  readonly fetch?: object
  readonly nodes?: ReadonlyArray<object>
}
const graphOf = ({ fetch = {}, nodes = [] }: Graph) => ({
  nodes: [
    { id: "1", type: "startCall", position: { x: 0, y: 0 }, data: { name: "Start", prompt: "Greet.", greeting: "Hello.", ...fetch } },
    ...nodes
  ],
  edges: []
})
// The shape of answers to this test's requests is known.
const bodyOf = <Body>({ body }: Answer) => body as Body
const messages = (answer: Answer) =>
  bodyOf<{ detail: ReadonlyArray<{ loc: ReadonlyArray<unknown>; msg: string }> }>(answer).detail.map(({ loc, msg }) => [loc.join("."), msg])

t.test("given a credential, an administrator and a member who may not read it", async (t) => {
  const world = await World.open(t, {
    emulator: { ringMillis: 500, talkMillis: 500 },
    environment: { WEBHOOK_PRIVATE_TARGETS: "on", CALL_RATE: "10" }
  })
  const [crm, evil] = [await receiver(t), await receiver(t)]
  const [crmHost, evilHost] = [new URL(crm.url).host, new URL(evil.url).host]
  const member = await colleague(world, "member")
  const admin = await colleague(world, "admin")
  const { uuid } = bodyOf<{ uuid: string }>(
    await admin.ask("POST", "/credentials/", { name: "crm", credential_type: "bearer_token", credential_data: { token: "s3cret" } })
  )
  const hosts = async () => bodyOf<{ allowed_hosts: ReadonlyArray<string> }>(await member.ask("GET", `/credentials/${uuid}`)).allowed_hosts
  const node = (url: string, more: object = {}) => webhook("2", { name: "Tell", endpoint_url: url, credential_uuid: uuid, ...more })
  const fetch = (url: string, mode = "always") => ({
    pre_call_fetch_mode: mode,
    pre_call_fetch_url: url,
    pre_call_fetch_credential_uuid: uuid
  })
  const save = (api: Api, graph: Graph) => api.ask("PUT", `/workflow/${world.agentId}`, { workflow_definition: graphOf(graph) })
  const tool = (url: string) => ({ name: "Ask", definition: { type: "http_api", config: { method: "GET", url, credential_uuid: uuid } } })
  const refusal = (host: string) =>
    `The credential may not be sent to ${host}: an administrator must add this host to the credential's allowed_hosts`

  t.test("when the member names it beside their own address, in any place, then it is refused", async (t) => {
    t.strictSame(await hosts(), [])
    const asNode = await save(member, { nodes: [node(evil.url)] })
    const place = "body.workflow_definition.nodes"
    t.strictSame([asNode.status, messages(asNode)], [422, [[`${place}.1.data.endpoint_url`, refusal(evilHost)]]])
    const asFetch = await save(member, { fetch: fetch(evil.url) })
    t.strictSame([asFetch.status, messages(asFetch)], [422, [[`${place}.0.data.pre_call_fetch_url`, refusal(evilHost)]]])
    for (const graph of [{ fetch: fetch(evil.url, "disabled") }, { nodes: [node(` ${evil.url}`, { enabled: false })] }]) {
      t.equal((await save(member, graph)).status, 422, "turned off, it would wait there for an administrator's next save")
    }
    const upper = { nodes: [webhook("2", { name: "Tell", endpoint_url: evil.url, credential_uuid: uuid.toUpperCase() })] }
    t.equal((await save(member, upper)).status, 422)
    const created = await member.ask("POST", "/workflow/create/definition", {
      name: "Mine",
      workflow_definition: graphOf({ nodes: [node(evil.url)] })
    })
    t.equal(created.status, 422)
    const asTool = await member.ask("POST", "/tools/", tool(evil.url))
    t.strictSame([asTool.status, messages(asTool)], [422, [["body.definition.config.url", `Value error, ${refusal(evilHost)}`]]])
    t.equal((await member.ask("PUT", `/credentials/${uuid}`, { allowed_hosts: [evilHost] })).status, 403)
    t.strictSame(await hosts(), [])
  })

  t.test("when the administrator saves an agent that names it, then its host is on the list, and the member may use that", async (t) => {
    t.equal((await save(admin, { nodes: [node(crm.url)] })).status, 200)
    t.strictSame(await hosts(), [crmHost])
    t.equal((await save(member, { nodes: [node(`${crm.url}&b=2`)] })).status, 200)
    t.equal((await member.ask("POST", "/tools/", tool(crm.url))).status, 200)
    t.equal((await save(member, { nodes: [node("https://127.0.0.1/hook")] })).status, 422, "another port is another server")
    await world.api.call(world.agentUuid, "+15550100001")
    t.match((await arrived(crm, 1))[0]?.headers, { authorization: "Bearer s3cret" })
  })

  t.test("when an administrator's tool names it, then its host is on the list too", async (t) => {
    t.equal((await admin.ask("POST", "/tools/", tool("https://api.example.com/x"))).status, 200)
    t.strictSame(await hosts(), [crmHost, "api.example.com"].sort())
  })

  t.test("when two administrators save at once, then the hosts of both are on the list", async (t) => {
    const others = Array.from({ length: 8 }, (_, at) => `host${at}.example.com`)
    const answers = await Promise.all(others.map((host) => admin.ask("POST", "/tools/", tool(`https://${host}/x`))))
    t.strictSame(new Set(answers.map(({ status }) => status)), new Set([200]))
    t.strictSame(await hosts(), [crmHost, "api.example.com", ...others].sort())
  })

  t.test("when the list is full, then saving another host is refused with that reason, and hosts on the list can be saved", async (t) => {
    const many = Array.from({ length: 99 }, (_, at) => `host${at}.example.com`)
    t.equal((await admin.ask("PUT", `/credentials/${uuid}`, { allowed_hosts: many })).status, 200)
    const full = (host: string) =>
      `The credential 'crm' may not be sent to ${host}: its allowed_hosts would exceed 100 entries; remove others first`
    const both = await save(admin, {
      fetch: fetch("https://one.example.com"),
      nodes: [
        node("https://two.example.com"),
        webhook("3", { name: "Known", endpoint_url: "https://host1.example.com", credential_uuid: uuid })
      ]
    })
    const told = [both.status, messages(both).map(([, message]) => message)]
    t.strictSame(
      told,
      [422, ["one.example.com", "two.example.com"].map(full)],
      "of two new hosts one would have had room: neither is added"
    )
    t.strictSame(await hosts(), many)
    t.equal((await save(admin, { nodes: [node("https://one.example.com")] })).status, 200)
    t.equal((await hosts()).length, 100)
    const asTool = await admin.ask("POST", "/tools/", tool("https://two.example.com"))
    t.strictSame([asTool.status, messages(asTool)], [422, [["body.definition.config.url", `Value error, ${full("two.example.com")}`]]])
    t.equal((await save(admin, { nodes: [node("https://host98.example.com")] })).status, 200)
  })

  t.test("when the list is edited, then it is replaced by what was sent, and invalid hosts are refused", async (t) => {
    const put = (allowed_hosts: ReadonlyArray<string>) => admin.ask("PUT", `/credentials/${uuid}`, { allowed_hosts })
    t.match(await put(["CRM.example.com", "crm.example.com:443", "[::1]:80", "b\u00fccher.example"]), {
      status: 200,
      body: { allowed_hosts: ["crm.example.com", "[::1]:80", "xn--bcher-kva.example"] }
    })
    for (const host of ["https://crm.example.com", "crm.example.com/x", "user@crm.example.com", "a b", "*", "*.example.com"]) {
      t.equal((await put([host])).status, 422, host)
    }
    t.match(await put([]), { status: 200, body: { allowed_hosts: [] } })
  })

  t.test("when a published agent sends it to a host that is not on the list, then it is not sent, and the run says so", async (t) => {
    t.equal((await save(admin, { fetch: fetch(evil.url), nodes: [node(evil.url)] })).status, 200)
    t.equal((await admin.ask("PUT", `/credentials/${uuid}`, { allowed_hosts: [crmHost] })).status, 200)
    const { workflow_run_id } = bodyOf<{ workflow_run_id: number }>(await world.api.call(world.agentUuid, "+15550100101"))
    const run = `/workflow/${world.agentId}/runs/${workflow_run_id}`
    await untilTrue("a delivery", async () =>
      /credential_host_refused/.test(JSON.stringify((await admin.ask("GET", `${run}/webhooks`)).body))
    )
    await untilTrue("its events", async () => /: credential_host_refused/.test(JSON.stringify((await admin.ask("GET", run)).body)))
    t.equal(evil.received.length, 0)
  })
})
